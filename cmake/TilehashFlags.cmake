# SPDX-License-Identifier: Apache-2.0
# Flags of the project's own programs: processor and sanitizer for every folder below, warnings by target.

# --- processor -------------------------------------------------------------------------------------------
set(TILEHASH_MARCH "${TILEHASH_ARCH}")
if(TILEHASH_MARCH STREQUAL "auto")
  set(TILEHASH_MARCH "")
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$" AND EXISTS /proc/cpuinfo)
    file(READ /proc/cpuinfo _tilehash_cpuinfo LIMIT 16384)
    string(REGEX MATCH "flags[^\n]*" _tilehash_cpu_flags "${_tilehash_cpuinfo}")
    set(TILEHASH_MARCH "x86-64-v3")
    # The level's features as Linux spells them (abm is lzcnt).
    foreach(flag IN ITEMS avx avx2 bmi1 bmi2 f16c fma abm movbe)
      if(NOT "${_tilehash_cpu_flags} " MATCHES " ${flag} ")
        set(TILEHASH_MARCH "")
      endif()
    endforeach()
  endif()
endif()
if(TILEHASH_MARCH)
  add_compile_options(
    $<$<COMPILE_LANGUAGE:CXX>:-march=${TILEHASH_MARCH}> $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-march=${TILEHASH_MARCH}>
  )
  message(STATUS "tilehash: programs are compiled with -march=${TILEHASH_MARCH}")
endif()

# --- optimisation ----------------------------------------------------------------------------------------
# tilehash_optimise(-Og): the release build's level for the folder that calls it, and those below.
macro(tilehash_optimise level)
  string(REPLACE "-O3" "${level}" CMAKE_CXX_FLAGS_RELEASE "${CMAKE_CXX_FLAGS_RELEASE}")
  string(REPLACE "-Og" "-O1" _cuda_level "${level}") # nvcc knows no other name for it
  string(REPLACE "-O3" "${_cuda_level}" CMAKE_CUDA_FLAGS_RELEASE "${CMAKE_CUDA_FLAGS_RELEASE}")
endmacro()

# tilehash_is_not_timed(TARGET LEVEL): what it does is waited for by nobody, so a release build spends less time on it.
# With -O0, what is timed must come before it when the program is linked: the linker takes the first copy of an inline function.
function(tilehash_is_not_timed target level)
  if(NOT TILEHASH_TIER STREQUAL "quick" AND NOT TILEHASH_SANITIZE)
    target_compile_options(${target} PRIVATE $<$<AND:$<CONFIG:Release>,$<COMPILE_LANGUAGE:CXX>>:${level}>)
  endif()
endfunction()

# --- garbage of g++ ----------------------------------------------------------------------------------------
# Each time its heap has doubled, g++ looks for memory to free: up to a tenth of its time for a large unit. Where every
# processor has 2 GB, it begins at 2 GB.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND NOT TILEHASH_TIER STREQUAL "quick")
  cmake_host_system_information(RESULT _tilehash_megabytes QUERY TOTAL_PHYSICAL_MEMORY)
  cmake_host_system_information(RESULT _tilehash_processors QUERY NUMBER_OF_LOGICAL_CORES)
  math(EXPR _tilehash_megabytes "${_tilehash_megabytes} / ${_tilehash_processors}")
  if(_tilehash_megabytes GREATER_EQUAL 2000)
    add_compile_options($<$<COMPILE_LANGUAGE:CXX>:--param=ggc-min-heapsize=1000000>)
  endif()
endif()

# tilehash_inline_less(): for units with hundreds of tables. g++ may double such a unit by inlining small functions of the host.
# With this limit a unit is a fifth smaller and takes an eighth less time. (Functions of TILEHASH_FN are always inlined.)
macro(tilehash_inline_less)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND NOT TILEHASH_TIER STREQUAL "quick" AND NOT TILEHASH_SANITIZE)
    add_compile_options($<$<AND:$<CONFIG:Release>,$<COMPILE_LANGUAGE:CXX>>:--param=inline-unit-growth=5>)
  endif()
endmacro()

# --- CUDA sources that nobody will run ---------------------------------------------------------------------
# Half of the time goes to optimising them, and what is asked is whether they compile.
if(TILEHASH_CUDA AND TILEHASH_CUDA_COMPILE_ONLY)
  string(REPLACE "-O3" "-O0" CMAKE_CUDA_FLAGS_RELEASE "${CMAKE_CUDA_FLAGS_RELEASE}")
  if(CMAKE_CUDA_COMPILER_VERSION VERSION_GREATER_EQUAL 13.0)
    add_compile_options("$<$<COMPILE_LANG_AND_ID:CUDA,NVIDIA>:-Ofc=max>")
  endif()
endif()

# --- linker ----------------------------------------------------------------------------------------------
# Hundreds of tests are linked, in 0.7 s each by GNU ld and 0.2 s by lld, or 0.3 s by gold, which every binutils has.
# (gold warns of AddressSanitizer's symbols.)
if(TILEHASH_TIER STREQUAL "quick")
  find_program(TILEHASH_LLD ld.lld)
  find_program(TILEHASH_GOLD ld.gold)
  mark_as_advanced(TILEHASH_LLD TILEHASH_GOLD)
  if(TILEHASH_LLD)
    add_link_options($<$<LINK_LANGUAGE:CXX>:-fuse-ld=lld>)
  elseif(TILEHASH_GOLD AND NOT TILEHASH_SANITIZE)
    add_link_options($<$<LINK_LANGUAGE:CXX>:-fuse-ld=gold>)
  endif()
endif()

# --- sanitizers ------------------------------------------------------------------------------------------
if(TILEHASH_SANITIZE STREQUAL "address")
  add_compile_options(
    -fsanitize=address,undefined
    # A null pointer that is used ends the program all the same; looking at each doubles what there is to compile.
    -fno-sanitize=null,vptr,object-size
    -fno-sanitize-recover=all
    $<$<CXX_COMPILER_ID:Clang>:-fsanitize-address-use-after-return=never> # fibers bring their own stacks
    -fno-omit-frame-pointer
    # A quarter of the compile time goes to lines in reports and to addresses that wrap around.
    $<IF:$<STREQUAL:${TILEHASH_TIER},quick>,-fno-sanitize=pointer-overflow,-g1>
    # A tenth goes to what undefined behaviour is reported with. The program traps instead.
    $<$<AND:$<STREQUAL:${TILEHASH_TIER},quick>,$<CXX_COMPILER_ID:Clang>>:-fsanitize-trap=undefined>
    $<$<BOOL:${TILEHASH_FUZZ}>:-fsanitize=fuzzer-no-link>
  )
  add_link_options(-fsanitize=address,undefined)
elseif(TILEHASH_SANITIZE STREQUAL "thread")
  # Fences, of which -Wtsan warns: why they may be there says core/atomic.hpp, device_fence().
  add_compile_options(
    -fsanitize=thread -fno-omit-frame-pointer $<$<NOT:$<STREQUAL:${TILEHASH_TIER},quick>>:-g1>
    $<$<CXX_COMPILER_ID:GNU>:-Wno-tsan>
  )
  add_link_options(-fsanitize=thread)
endif()

# Every caller's own copy of the kernels takes half of such a build's time (core/config.hpp).
if(TILEHASH_SANITIZE OR TILEHASH_TIER STREQUAL "quick")
  add_compile_definitions($<$<COMPILE_LANGUAGE:CXX>:TILEHASH_PLAIN_INLINE>)
endif()

# --- warnings --------------------------------------------------------------------------------------------
# nvcc hands the host compiler generated code, so only -Wall -Wextra go through it; its own front end's
# warnings are always on.
function(tilehash_warnings target)
  set(cxx
      -Wall
      -Wextra
      -Wpedantic
      $<IF:$<CXX_COMPILER_ID:GNU>,-Wshadow=local,-Wshadow> # g++ takes a variable named as a type for a shadow, too
      -Wnon-virtual-dtor
      -Woverloaded-virtual
      -Wcast-qual
      -Wextra-semi
      -Wvla
  )
  set(cuda -Xcompiler=-Wall,-Wextra)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU") # g++ finds it in CUB's scans, where it is not
    list(APPEND cuda -Xcompiler=-Wno-maybe-uninitialized)
  endif()
  if(TILEHASH_WERROR)
    list(APPEND cxx -Werror)
    list(APPEND cuda -Xcompiler=-Werror --Werror=all-warnings)
  endif()
  target_compile_options(
    ${target} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:${cxx}>" "$<$<COMPILE_LANG_AND_ID:CUDA,NVIDIA>:${cuda}>"
  )
endfunction()

# --- precompiled headers -----------------------------------------------------------------------------------
set(TILEHASH_TBB_HEADERS)
if(TILEHASH_HAS_TBB)
  set(TILEHASH_TBB_HEADERS <tbb/blocked_range.h> <tbb/parallel_for.h> <tbb/parallel_scan.h> <tbb/parallel_sort.h> <tbb/task_arena.h>)
endif()

# The library's, which take 0.7 s a unit. They keep their warnings: CMake's prologue would make system headers of them.
set(TILEHASH_OWN_HEADERS <tilehash/tilehash.hpp> <tilehash/papers/papers.hpp>)
if(TILEHASH_CPU_PART STREQUAL "alone")
  list(APPEND TILEHASH_OWN_HEADERS ${PROJECT_SOURCE_DIR}/tests/support/common_tables.hpp)
  set(CMAKE_PCH_PROLOGUE "")
endif()

# tilehash_cache_precompiled(TARGET): ccache takes part in what precompiled headers are used for, when it is told that it may.
function(tilehash_cache_precompiled target)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    set(option -fpch-preprocess)
  else()
    set(option "SHELL:-Xclang -fno-pch-timestamp")
  endif()
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:${option}>)
  if(TILEHASH_CCACHE AND CMAKE_CXX_COMPILER_LAUNCHER STREQUAL TILEHASH_CCACHE)
    set(launcher ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${TILEHASH_CCACHE})
    set_target_properties(${target} PROPERTIES CXX_COMPILER_LAUNCHER "${launcher}")
  endif()
endfunction()

# tilehash_compile_precompiled(OWNER TARGET): OWNER, a static library, has the machine code of what its precompiled headers define
# and instantiate, and the units of TARGET refer to it. The linker drops what no unit calls, because some of it calls functions
# that no library has. In the build cpu alone: tests under sanitizers share too few instances to pay for it.
function(tilehash_compile_precompiled owner target)
  if(NOT TILEHASH_CPU_PART STREQUAL "alone" OR NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    return()
  endif()
  get_target_property(options ${owner} INTERFACE_LINK_OPTIONS)
  if(NOT options)
    target_compile_options(${owner} PRIVATE -fpch-codegen "SHELL:-Xclang -building-pch-with-obj")
    target_link_options(${owner} INTERFACE -Wl,--gc-sections)
  endif()
  target_link_libraries(${target} PRIVATE ${owner})
endfunction()

# tilehash_precompile(TARGET header... [OWNER name [LIBRARIES t...]] [MANY_UNITS]): these and the standard library's, parsed once
# for TARGET's sources, or for those of all targets with the same OWNER, which links LIBRARIES. In the build cpu alone, where they
# are a third of the time; elsewhere they cost as much as they save in three units, so targets with MANY_UNITS have them too.
function(tilehash_precompile target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "MANY_UNITS" "OWNER" "LIBRARIES")
  if(NOT TILEHASH_CPU_PART STREQUAL "alone" AND (NOT arg_MANY_UNITS OR TILEHASH_TIER STREQUAL "quick" OR TILEHASH_SANITIZE))
    return()
  endif()
  tilehash_cache_precompiled(${target})
  if(arg_OWNER)
    if(NOT TARGET tilehash_precompiled_${arg_OWNER})
      file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/precompiled.cpp CONTENT "")
      add_library(tilehash_precompiled_${arg_OWNER} STATIC ${CMAKE_CURRENT_BINARY_DIR}/precompiled.cpp)
      target_link_libraries(tilehash_precompiled_${arg_OWNER} PRIVATE tilehash::tilehash ${arg_LIBRARIES})
      tilehash_warnings(tilehash_precompiled_${arg_OWNER})
      set(units)
      if(arg_MANY_UNITS)
        set(units MANY_UNITS)
      endif()
      tilehash_precompile(tilehash_precompiled_${arg_OWNER} ${arg_UNPARSED_ARGUMENTS} ${units})
    endif()
    target_precompile_headers(${target} REUSE_FROM tilehash_precompiled_${arg_OWNER})
    tilehash_compile_precompiled(tilehash_precompiled_${arg_OWNER} ${target})
  else()
    target_precompile_headers(
      ${target} PRIVATE <algorithm> <functional> <map> <optional> <random> <string> <unordered_map> <vector>
      ${TILEHASH_TBB_HEADERS} ${arg_UNPARSED_ARGUMENTS}
    )
  endif()
endfunction()
