/* The one file in C++: OpenVDB has no C interface. A tile of nodes is a leaf of OpenVDB's tree, node for node.
 * Nothing is thrown out of here, and the bytes depend on the field alone: OpenVDB would put a random number into every file. */
#include <openvdb/Grid.h>
#include <openvdb/io/File.h>
#include <openvdb/openvdb.h>
#include <openvdb/tools/SignedFloodFill.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <exception>

extern "C" {
#include "io/files.h"
#include "surface/write_vdb.h"
}

namespace
{

const float background_cells = 3.0f;
const int uuid_offset = 21, uuid_length = 36; /* behind the magic number, three version numbers and a flag */

std::string key_text(uint64_t key)
{
    char text[24];
    std::snprintf(text, sizeof text, "%016" PRIx64, key);
    return text;
}

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

openvdb::MetaMap make_metadata(const WadiMeshFileInfo &info)
{
    openvdb::MetaMap map;
    map.insertMeta("wadi", openvdb::StringMetadata(wadi_version()));
    map.insertMeta("material", openvdb::StringMetadata(info.material));
    map.insertMeta("frame", openvdb::Int32Metadata(info.frame));
    map.insertMeta("subframe", openvdb::DoubleMetadata(info.subframe));
    map.insertMeta("time", openvdb::DoubleMetadata(info.time));
    map.insertMeta("fps", openvdb::DoubleMetadata(info.fps));
    map.insertMeta("up", openvdb::StringMetadata("z"));
    map.insertMeta("unit", openvdb::StringMetadata("metre"));
    map.insertMeta("key", openvdb::StringMetadata(key_text(info.key)));
    return map;
}

} // namespace

WadiStatus wadi_surface_write_vdb(const char *path, const WadiVdbRows *rows, const WadiMeshFileInfo *info,
                                  WadiError *error)
{
    WadiFileWriter writer;
    WADI_TRY(wadi_file_writer_open(&writer, path, error));
    try {
        openvdb::initialize();
        openvdb::GridPtrVec grids{ make_grid(*rows) };
        openvdb::io::File file(writer.temporary);
        file.write(grids, make_metadata(*info));
        file.close();
    } catch (const std::exception &problem) {
        wadi_file_writer_cancel(&writer);
        return wadi_fail(error, WADI_ERR_IO, "cannot write %s: %s", path, problem.what());
    }
    char uuid[uuid_length + 1];
    std::snprintf(uuid, sizeof uuid, "%08x-%04x-4000-8000-%012" PRIx64,
                  static_cast<unsigned>(info->key >> 32), static_cast<unsigned>(info->key >> 16 & 0xffff),
                  info->key & UINT64_C(0xffffffffffff));
    WADI_TRY(wadi_file_writer_put(&writer, uuid, uuid_length, uuid_offset, error));
    return wadi_file_writer_commit(&writer, error);
}

bool wadi_surface_vdb_has_key(const char *path, uint64_t key)
{
    if (!wadi_file_exists(path)) {
        return false;
    }
    try {
        openvdb::initialize();
        openvdb::io::File file(path);
        file.open();
        auto found = file.getMetadata()->getMetadata<openvdb::StringMetadata>("key");
        return found != nullptr && found->value() == key_text(key);
    } catch (const std::exception &) {
        return false;
    }
}
