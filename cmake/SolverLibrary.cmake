# The target `wadi` for systems without packages of what wadi needs: solvers, grids, scenes and the mesher, with libfyaml built from its
# source in FYAML_SOURCE. Without HDF5, Embree and libpng, so without run folders, mesh files and pictures; absent.c answers in
# their place.
set(FYAML_SOURCE "" CACHE PATH "Unpacked source of libfyaml")
set(WADI_ROOT ${CMAKE_CURRENT_LIST_DIR}/..)

# Its own build defines a version and what the C library has.
file(GLOB FYAML_FILES ${FYAML_SOURCE}/src/lib/*.c)
if(NOT FYAML_FILES)
  message(FATAL_ERROR "FYAML_SOURCE has no source of libfyaml: ${FYAML_SOURCE}")
endif()
add_library(fyaml STATIC ${FYAML_FILES} ${FYAML_SOURCE}/src/xxhash/xxhash.c)
target_compile_definitions(fyaml PRIVATE _GNU_SOURCE NDEBUG VERSION="wadi" HAVE_QSORT_R=0)
target_compile_options(fyaml PRIVATE -w)
set_target_properties(fyaml PROPERTIES C_EXTENSIONS ON)
target_include_directories(fyaml PUBLIC ${FYAML_SOURCE}/include PRIVATE ${FYAML_SOURCE}/src/lib ${FYAML_SOURCE}/src/xxhash)

file(GLOB SOURCES CONFIGURE_DEPENDS ${WADI_ROOT}/src/*/*.c ${WADI_ROOT}/src/*/*/*.c)
list(FILTER SOURCES EXCLUDE REGEX
     "/src/(render|export|secondary)/|/src/api/(export|render|secondary)/|/src/io/(frame|run)/|/surface/write/write_vdb[.]c$")
list(FILTER SOURCES EXCLUDE REGEX "/(heightmap|mesh_distance|run|run_checks|run_view|run_changes|run_info|run_reader)[.]c$")
if(WIN32)
  target_include_directories(fyaml PUBLIC ${WADI_ROOT}/cmake/posix)
  list(FILTER SOURCES EXCLUDE REGEX "/core/os/posix_|/src/api/(farm|wedge)/|/src/io/files/lock[.]c")
else()
  list(FILTER SOURCES EXCLUDE REGEX "/core/os/windows_")
endif()
add_library(wadi STATIC ${SOURCES} ${WADI_ROOT}/cmake/absent.c)
# The flags of the other builds that change values, see ../CMakeLists.txt.
target_compile_options(wadi PRIVATE -ffp-contract=off -fno-math-errno -fno-trapping-math -fopenmp-simd -Wall -Wextra
                       $<$<C_COMPILER_ID:Clang>:-Wno-pass-failed>)
target_compile_definitions(wadi PRIVATE _GNU_SOURCE)
if(WIN32)
  # printf of C17; gcc checks formats by those of Microsoft's.
  target_compile_definitions(wadi PRIVATE __USE_MINGW_ANSI_STDIO=1)
  target_compile_options(wadi PRIVATE -Wno-format -Wno-format-extra-args)
endif()
target_include_directories(wadi PUBLIC ${WADI_ROOT}/include PRIVATE ${WADI_ROOT}/src)
target_link_libraries(wadi PRIVATE fyaml)
