# SPDX-License-Identifier: Apache-2.0
# Decides TILEHASH_CUDA (default: ON where an nvcc of 12.6 or newer is found) and enables the language when the
# project builds programs of its own. A project that only uses the headers enables CUDA itself.

set(TILEHASH_CUDA_MINIMUM 12.6)

if(NOT DEFINED CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX})
  # The toolkit's own place need not be on PATH.
  find_program(
    TILEHASH_NVCC nvcc
    HINTS ENV CUDA_HOME ENV CUDA_PATH
    PATHS /usr/local/cuda
    PATH_SUFFIXES bin
  )
  mark_as_advanced(TILEHASH_NVCC)
  set(_tilehash_nvcc "${TILEHASH_NVCC}")
elseif(DEFINED CMAKE_CUDA_COMPILER)
  set(_tilehash_nvcc "${CMAKE_CUDA_COMPILER}")
else()
  set(_tilehash_nvcc "$ENV{CUDACXX}")
endif()

if(NOT DEFINED TILEHASH_CUDA)
  set(_tilehash_cuda_default OFF)
  if(_tilehash_nvcc)
    execute_process(COMMAND ${_tilehash_nvcc} --version OUTPUT_VARIABLE _tilehash_nvcc_says ERROR_QUIET)
    if(_tilehash_nvcc_says MATCHES "release ([0-9]+\\.[0-9]+)" AND CMAKE_MATCH_1 VERSION_GREATER_EQUAL
                                                                  TILEHASH_CUDA_MINIMUM
    )
      set(_tilehash_cuda_default ON)
    elseif(CMAKE_MATCH_1)
      message(STATUS "tilehash: nvcc ${CMAKE_MATCH_1} is older than ${TILEHASH_CUDA_MINIMUM}, so TILEHASH_CUDA is OFF")
    endif()
  endif()
  option(TILEHASH_CUDA "build for the cuda space too (needs nvcc)" ${_tilehash_cuda_default})
endif()

if(TILEHASH_CUDA AND TILEHASH_BUILDS_PROGRAMS)
  if(NOT _tilehash_nvcc)
    message(FATAL_ERROR "TILEHASH_CUDA is ON but nvcc was not found: put it on PATH, set CUDACXX, or use -DTILEHASH_CUDA=OFF")
  endif()
  if(NOT DEFINED CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX})
    set(ENV{CUDACXX} ${_tilehash_nvcc})
  endif()
  if(TILEHASH_CUDA_COMPILE_ONLY)
    set(CMAKE_CUDA_ARCHITECTURES 90-virtual) # to PTX; tilehash_cuda_to_the_end(target) names what goes on to machine code
  elseif(NOT DEFINED CMAKE_CUDA_ARCHITECTURES AND NOT DEFINED ENV{CUDAARCHS})
    set(CMAKE_CUDA_ARCHITECTURES 90)
  endif()
  if(NOT DEFINED CMAKE_CUDA_HOST_COMPILER AND NOT DEFINED ENV{CUDAHOSTCXX} AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    set(CMAKE_CUDA_HOST_COMPILER ${CMAKE_CXX_COMPILER})
  endif()
  enable_language(CUDA)
  set(CMAKE_CUDA_STANDARD 20)
  set(CMAKE_CUDA_STANDARD_REQUIRED ON)
endif()

# A target whose device code becomes machine code even where the others' stops at PTX.
function(tilehash_cuda_to_the_end target)
  if(TILEHASH_CUDA_COMPILE_ONLY AND TARGET ${target})
    set_target_properties(${target} PROPERTIES CUDA_ARCHITECTURES 90-real)
  endif()
endfunction()

# Are programs linked with their CUDA sources? Where no GPU will run them, they are built as where there is no nvcc.
set(TILEHASH_CUDA_PROGRAMS OFF)
if(TILEHASH_CUDA AND NOT TILEHASH_CUDA_COMPILE_ONLY)
  set(TILEHASH_CUDA_PROGRAMS ON)
endif()

# tilehash_cuda_to_ptx(NAME SIZE SOURCE...): objects that nothing is linked of. To PTX and no further: on the way there nvcc
# reads the host's code too, and warns of it. Sources that include SIZE of them each are compiled, since their headers cost
# more than they do. (CMake's own unity builds know no CUDA before 3.31.)
function(tilehash_cuda_to_ptx name size)
  set(batches)
  list(LENGTH ARGN number)
  math(EXPR last "${number} - 1")
  foreach(first RANGE 0 ${last} ${size})
    set(text "")
    list(SUBLIST ARGN ${first} ${size} batch)
    foreach(source IN LISTS batch)
      cmake_path(ABSOLUTE_PATH source)
      string(APPEND text "#include \"${source}\"\n")
    endforeach()
    if(batch)
      set(file ${CMAKE_CURRENT_BINARY_DIR}/${name}_${first}.cu)
      file(CONFIGURE OUTPUT ${file} CONTENT "${text}" @ONLY)
      list(APPEND batches ${file})
    endif()
  endforeach()
  add_library(${name} OBJECT ${batches})
  target_link_libraries(${name} PRIVATE tilehash::tilehash)
  tilehash_warnings(${name})
  set_target_properties(${name} PROPERTIES CUDA_PTX_COMPILATION ON CUDA_ARCHITECTURES 90-virtual)
endfunction()

# tilehash_cuda_is_read(...): the same, but nvcc stops when it has read and instantiated all, as what comes behind that takes as
# long again. For what asks questions of kernels that become PTX elsewhere: those of all designs do in the program, in the tier full.
function(tilehash_cuda_is_read name)
  tilehash_cuda_to_ptx(${name} ${ARGN})
  target_compile_options(${name} PRIVATE -fdevice-syntax-only)
endfunction()
