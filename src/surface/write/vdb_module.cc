/* The only file in C++: OpenVDB has no C interface. A tile of nodes is a leaf of OpenVDB's tree, node for
 * node. No exception leaves this file. */
#include "surface/write/vdb_module.h"

#include <openvdb/Grid.h>
#include <openvdb/io/File.h>
#include <openvdb/openvdb.h>
#include <openvdb/tools/SignedFloodFill.h>

#include <algorithm>
#include <cstdio>
#include <exception>

namespace
{

const float background_cells = 3.0f;

openvdb::FloatGrid::Ptr make_grid(const WadiVdbRows &rows)
{
    const float background = background_cells * static_cast<float>(rows.cell);
    openvdb::FloatGrid::Ptr grid = openvdb::FloatGrid::create(background);
    grid->setTransform(openvdb::math::Transform::createLinearTransform(rows.cell));
    grid->setGridClass(openvdb::GRID_LEVEL_SET);
    grid->setName("surface");
    /* Every node of the band is active: the signs of all others follow from their neighbours. */
    for (size_t r = 0; r < rows.count; ++r) {
        const WadiVdbRow &row = rows.row[r];
        openvdb::Coord node(row.node[0], row.node[1], row.node[2]);
        auto *leaf = grid->tree().touchLeaf(node);
        for (int l = 0; l < 8; ++l) {
            leaf->setValueOn(node.offsetBy(l, 0, 0), std::clamp(row.value[l], -background, background));
        }
    }
    openvdb::tools::signedFloodFill(grid->tree());
    return grid;
}

openvdb::MetaMap make_metadata(const WadiVdbFacts &facts)
{
    openvdb::MetaMap map;
    map.insertMeta("wadi", openvdb::StringMetadata(facts.wadi));
    map.insertMeta("material", openvdb::StringMetadata(facts.material));
    map.insertMeta("frame", openvdb::Int32Metadata(facts.frame));
    map.insertMeta("subframe", openvdb::DoubleMetadata(facts.subframe));
    map.insertMeta("time", openvdb::DoubleMetadata(facts.time));
    map.insertMeta("fps", openvdb::DoubleMetadata(facts.fps));
    map.insertMeta("up", openvdb::StringMetadata("z"));
    map.insertMeta("unit", openvdb::StringMetadata("metre"));
    map.insertMeta("key", openvdb::StringMetadata(facts.key));
    return map;
}

} // namespace

int wadi_vdb_write_1(const char *path, const WadiVdbRows *rows, const WadiVdbFacts *facts,
                     char problem[WADI_VDB_TEXT_SIZE])
{
    try {
        openvdb::initialize();
        openvdb::GridPtrVec grids{ make_grid(*rows) };
        openvdb::io::File file(path);
        file.write(grids, make_metadata(*facts));
        file.close();
        return 0;
    } catch (const std::exception &thrown) {
        std::snprintf(problem, WADI_VDB_TEXT_SIZE, "%s", thrown.what());
        return 1;
    }
}
