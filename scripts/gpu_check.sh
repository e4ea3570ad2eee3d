#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Checks and measures tilehash on a machine with a GPU, with what is there and no network: configures, builds, runs
# the tests on cuda, the differential tests, small cases under compute-sanitizer, and the benchmark. Results go to
# build/results/<gpu>-<commit>/, so no run overwrites another commit's; scripts/check_results.py --pack makes them files
# for bench/results.
#
#   scripts/gpu_check.sh [STEP...]     all steps in this order but the last six,  or those named (a machine lent by the
#                                      minute can be given them in several calls; every call leaves build/gpu for the
#                                      next):
#     configure build code test differential memcheck racecheck initcheck synccheck inputs run ceilings yardstick
#                calls tail aggregation growth goals thesis horton coherent dynamic hashgraph papers
#     sanitize means the four checks of compute-sanitizer, bench means run, ceilings, yardstick, calls, tail,
#     aggregation, growth and goals; thesis, horton, coherent, dynamic and hashgraph, the experiments of Alcantara's thesis, of
#     Breslow's, Garcia's and Li's papers and on HashGraph and joins, and papers, all their tables and figures
#     (`tilehash reproduce all`), run when named
#
# A step that fails fails the script, but the later ones still run; the summary is the last word. Environment:
#   TILEHASH_COMMIT            the commit's name, for a copy without .git
#   TILEHASH_RESULTS_DIR       where the results go instead
#   TILEHASH_CMAKE_OPTIONS     more options for CMake
#   TILEHASH_SANITIZER_FILTER  GoogleTest filter for the runs under compute-sanitizer (default: *)
#   TILEHASH_LOADS             load factors of the yardstick, with commas between them
#   TILEHASH_GENOME            a FASTA file (.gz or not) for the step inputs
#   TILEHASH_REPRODUCE         more options for the step papers, such as --quick (small sizes)
#   TILEHASH_SANITIZER_SECONDS limit for one program under compute-sanitizer (default: 300)
# Where {fmt}, nlohmann-json, CLI11 or GoogleTest are missing, scripts/vendor.sh (run elsewhere) packs them.
# shellcheck source=scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

build=build/gpu
program=$build/bin/tilehash

# The steps run in a subshell, where a failing command ends the step.
step_configure() {
  local options=(-DCMAKE_BUILD_TYPE=Release -DTILEHASH_CUDA=ON)
  local architecture
  architecture=$(gpu_architecture)
  if [ -n "$architecture" ]; then options+=("-DCMAKE_CUDA_ARCHITECTURES=$architecture"); fi
  if [ -d .vendor/include ]; then options+=("-DTILEHASH_VENDOR_INCLUDE=$PWD/.vendor/include"); fi
  if command -v ninja >/dev/null; then options+=(-G Ninja); fi
  # shellcheck disable=SC2206 # words are wanted
  options+=(${TILEHASH_CMAKE_OPTIONS:-})
  cmake -S . -B "$build" "${options[@]}"
}
step_build() { cmake --build "$build" --parallel "$(jobs)" -- -k 0; }

# What the compiler made of the kernels (scripts/check_zeroed_pairs.py).
step_code() {
  local tool here=$PWD folder=$PWD/$build/cubins file
  tool=$(command -v cuobjdump || echo "${CUDA_HOME:-/usr/local/cuda}/bin/cuobjdump")
  if [ ! -x "$tool" ]; then
    echo "   no cuobjdump here, so nobody looks at what the compiler made"
    return
  fi
  rm -rf "$folder"
  for file in "$build"/bin/*; do
    mkdir -p "$folder/$(basename "$file")"
    (cd "$folder/$(basename "$file")" && "$tool" -xelf all "$here/$file" >/dev/null 2>&1) || true # one without kernels
  done
  find "$folder" -name '*.cubin' -print0 | xargs -0 --no-run-if-empty python3 scripts/check_zeroed_pairs.py
}

run_ctest() {
  TILEHASH_REQUIRE_GPU=1 ctest --test-dir "$build" --output-on-failure --no-tests=error --parallel "$(($(jobs) / 2 + 1))" "$@"
}
step_test() { run_ctest -L '^cuda$' -E differential; }
step_differential() { run_ctest -R differential; }

# compute-sanitizer, one tool over every test program.
find_sanitizer() {
  local place
  for place in "$(command -v compute-sanitizer || true)" "${CUDA_HOME:-/usr/local/cuda}/bin/compute-sanitizer" \
    /usr/local/cuda/bin/compute-sanitizer /usr/local/cuda/compute-sanitizer/compute-sanitizer; do
    if [ -n "$place" ] && [ -x "$place" ]; then
      echo "$place"
      return
    fi
  done
  die "compute-sanitizer not found (it comes with the CUDA toolkit)"
}
# sanitize_one SANITIZER TOOL FOLDER PROGRAM: prints one line, keeps the log.
sanitize_one() {
  local name log begin=$SECONDS status=0 options=(--tool "$2")
  name=$(basename "$4")
  log="$3/$name.log"
  # Tests provoke calls that fail (more memory than there is), and the library checks every call itself.
  if [ "$2" = memcheck ]; then options+=(--report-api-errors no); fi
  TILEHASH_SIZES=small TILEHASH_REQUIRE_GPU=1 timeout "${TILEHASH_SANITIZER_SECONDS:-300}" \
    "$1" "${options[@]}" --error-exitcode 99 "$4" "--gtest_filter=${TILEHASH_SANITIZER_FILTER:-*}" >"$log" 2>&1 || status=$?
  if [ "$status" -eq 0 ]; then
    echo "   $2 $name: clean ($((SECONDS - begin)) s)"
  elif grep -q 'Device not supported' "$log"; then
    echo "   $2 $name: NOT RUN, compute-sanitizer says 'Device not supported' here"
    return 1
  elif [ "$status" -eq 124 ]; then
    echo "   $2 $name: NOT FINISHED in ${TILEHASH_SANITIZER_SECONDS:-300} s (log: $log)"
    return 1
  else
    echo "   $2 $name: FAILED with $status (log: $log), which begins"
    grep -E '^=========|FAILED|error' "$log" | head -n 20 || head -n 20 "$log"
    return 1
  fi
}
sanitize() {
  local tool=$1 sanitizer folder="$build/sanitize/$1"
  sanitizer=$(find_sanitizer)
  [ -s "$build/cuda_tests.txt" ] || die "no test programs listed in $build/cuda_tests.txt: configure first"
  mkdir -p "$folder"
  export -f sanitize_one
  # The last argument of bash -c is the program.
  # shellcheck disable=SC2016 # expanded by the inner bash
  grep . "$build/cuda_tests.txt" | xargs -P 6 -I '{}' bash -c 'sanitize_one "$@"' _ "$sanitizer" "$tool" "$folder" '{}'
}
step_memcheck() { sanitize memcheck; }
# It is slow, and looks at nothing but shared memory, which bulk builds use: so at builds of one pair of types.
step_racecheck() { TILEHASH_SANITIZER_FILTER="${TILEHASH_SANITIZER_FILTER:-*_u32_u32_*.sizes_*:*regions/0.a_table*}" sanitize racecheck; }
step_initcheck() { sanitize initcheck; }
step_synccheck() { sanitize synccheck; }

# Every design on keys of every kind, as usual and as full as it takes; what it answered stays in build/gpu/inputs/.
step_inputs() {
  local input load name folder="$build/inputs"
  local inputs=("random:n=1000003" "random:n=1000003,dist=sequential" "random:n=1000003,dist=zipf:1.1")
  mkdir -p "$folder"
  if [ -n "${TILEHASH_GENOME:-}" ]; then
    local genome=$TILEHASH_GENOME
    if [[ $genome == *.gz ]]; then # there may be no zlib here for the program to be built with
      genome=$folder/$(basename "$genome" .gz)
      gunzip -c "$TILEHASH_GENOME" >"$genome"
    fi
    inputs+=("fasta:$genome,k=21")
  fi
  for input in "${inputs[@]}"; do
    for load in 0.8 max; do
      name=$folder/$(printf '%s' "$input-$load" | tr -cs '[:alnum:].' '-')
      "$program" run --design all --space cuda --repeat 1 --input "$input" --load-factor "$load" --json "$name.json" \
        >"$name.log" || {
        tail -n 20 "$name.log"
        die "$input at load factor $load: see above"
      }
      echo "   $input, load factor $load: all answers right"
    done
  done
}

# The benchmark. environment.json says on what it ran.
json_text() { printf '"%s"' "$(printf '%s' "$1" | tr -d '\000-\037' | sed 's/[\\"]/\\&/g')"; }
gpu_query() { nvidia-smi --query-gpu="$1" --format=csv,noheader | head -n 1; }
cache_entry() { sed -n "s/^$1:[^=]*=//p" "$build/CMakeCache.txt" | head -n 1; }
results() {
  local name
  name=$(gpu_query name | tr '[:upper:]' '[:lower:]' | tr -cs '[:alnum:]' '-' | sed 's/^-*//; s/-*$//')
  echo "${TILEHASH_RESULTS_DIR:-build/results/${name:?}-$(commit | sed -E 's/^(.{12})[0-9a-f]*/\1/')}"
}
write_environment() {
  local file=$1 nvcc host
  nvcc=$(find_nvcc) || nvcc=nvcc
  host=$(cache_entry CMAKE_CXX_COMPILER)
  {
    echo '{'
    printf '  "gpu": %s,\n' "$(json_text "$(gpu_query name)")"
    printf '  "gpu_memory": %s,\n' "$(json_text "$(gpu_query memory.total)")"
    printf '  "gpu_max_sm_clock": %s,\n' "$(json_text "$(gpu_query clocks.max.sm)")"
    printf '  "driver": %s,\n' "$(json_text "$(gpu_query driver_version)")"
    printf '  "cuda_compiler": %s,\n' "$(json_text "nvcc $("$nvcc" --version | sed -n 's/.*, V//p')")"
    printf '  "cuda_architectures": %s,\n' "$(json_text "$(cache_entry CMAKE_CUDA_ARCHITECTURES)")"
    printf '  "host_compiler": %s,\n' "$(json_text "$("${host:-g++}" --version | head -n 1)")"
    printf '  "build_type": %s,\n' "$(json_text "$(cache_entry CMAKE_BUILD_TYPE)")"
    printf '  "cpu": %s,\n' "$(json_text "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)")"
    printf '  "cpu_threads": %s,\n' "$(nproc)"
    printf '  "commit": %s,\n' "$(json_text "$(commit)")"
    printf '  "date": %s\n' "$(json_text "$(date -u +%Y-%m-%dT%H:%M:%SZ)")"
    echo '}'
  } >"$file"
}
bench() {
  local file=$1 folder
  shift
  [ -x "$program" ] || die "$program is not built: run the steps configure and build first"
  folder=$(results)
  mkdir -p "$folder"
  write_environment "$folder/environment.json"
  # Written beside and moved, so that a failed run leaves the last good figures.
  "$program" "$@" --json "$folder/$file.json.new"
  mv "$folder/$file.json.new" "$folder/$file.json"
  echo "   wrote $folder/$file.json"
}
# Every answer is checked against std::unordered_map on the host, which is what takes the time.
step_run() { bench run run --design all --space cuda --input random:n=2097152 --repeat 5 --probes; }
step_ceilings() { bench ceilings bench ceilings --space cuda; }
step_aggregation() { bench aggregation bench aggregation --space cuda; }
step_yardstick() { bench yardstick bench yardstick --space cuda --load "${TILEHASH_LOADS:-0.5,0.8,0.9,0.95}"; }
step_calls() { bench calls bench calls --space cuda; }
step_growth() { bench growth bench growth --space cuda --load 0.8,0.9; }
# The rates that calls must reach (docs/measured/goals.md).
step_goals() {
  local folder
  folder=$(results)
  mkdir -p "$folder"
  cmake --build "$build" --target tilehash_goals --parallel "$(jobs)"
  "$build/bin/tilehash_goals" | tee "$folder/goals.txt.new"
  mv "$folder/goals.txt.new" "$folder/goals.txt"
  echo "   wrote $folder/goals.txt"
}
step_tail() { bench tail bench tail --space cuda; }
step_thesis() {
  local sweep
  for sweep in size space failed fill; do bench "thesis_$sweep" bench "thesis/$sweep" --space cuda; done
  bench thesis_multiplicity bench thesis/multiplicity --space cuda
  bench thesis_two_level bench thesis/two_level --space cuda --n 1000000,10000000
}

# The bytes that each lookup moves are counted; where ncu may read the GPU's counters, it says what memory and the
# second-level cache saw of it, kernel by kernel (the name has the design; the last of each table counts the buckets).
step_horton() {
  local folder profiler
  bench horton_sizes bench horton/sizes --space cuda
  folder=$(results)
  profiler=$(command -v ncu || true)
  if [ -z "$profiler" ]; then
    echo "   no ncu here: the bytes moved are the counted ones alone"
    return
  fi
  "$profiler" --csv --kernel-name-base demangled --kernel-name "regex:look_up_(lanes|alone)" \
    --metrics gpu__time_duration.sum,dram__bytes_read.sum,dram__bytes_write.sum,lts__t_bytes.sum \
    "$program" bench horton/sizes --space cuda --bytes 1M,64M,512M,8G --repeat 1 >"$folder/horton_ncu.csv" ||
    echo "   ncu gave no figures (may it read the counters? see $folder/horton_ncu.csv)"
}

# The experiments on coherent hashing, and where ncu may read the counters, what the caches saw of the structured picture
# at each load and how far the threads of a warp parted (figures 8 and 9): kernel by kernel, the name has the design.
step_coherent() {
  local experiment folder profiler
  for experiment in sizes images layouts voxels; do
    bench "coherent_$experiment" bench "coherent/$experiment" --space cuda
  done
  folder=$(results)
  profiler=$(command -v ncu || true)
  if [ -z "$profiler" ]; then
    echo "   no ncu here: figures 8 and 9 are left out"
    return
  fi
  local metrics=(
    gpu__time_duration.sum l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum
    l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum lts__t_sectors_op_read.sum dram__sectors_read.sum
    smsp__thread_inst_executed_per_inst_executed.ratio smsp__sass_average_branch_targets_threads_uniform.pct
  )
  "$profiler" --csv --kernel-name-base demangled --kernel-name "regex:look_up_(lanes|alone)" \
    --metrics "$(IFS=,; echo "${metrics[*]}")" \
    "$program" bench coherent/images --space cuda --models structured --repeat 1 >"$folder/coherent_ncu.csv" ||
    echo "   ncu gave no figures (may it read the counters? see $folder/coherent_ncu.csv)"
}

# The experiments on dynamic tables, and where ncu may read the counters, what it says of the kernels that insert (figure
# 10): threads at work, caches, memory. The name has the design.
step_dynamic() {
  local folder profiler
  bench dynamic_static bench dynamic/static --space cuda
  bench dynamic_resize bench dynamic/resize --space cuda
  bench dynamic_conflicts bench dynamic/conflicts --space cuda
  bench dynamic_workload bench dynamic/workload --space cuda --n 100000000 --repeat 1
  folder=$(results)
  profiler=$(command -v ncu || true)
  if [ -z "$profiler" ]; then
    echo "   no ncu here: figure 10 is left out"
    return
  fi
  local metrics=(
    gpu__time_duration.sum smsp__thread_inst_executed_per_inst_executed.ratio l1tex__t_sector_hit_rate.pct
    lts__t_sector_hit_rate.pct dram__throughput.avg.pct_of_peak_sustained_elapsed
  )
  "$profiler" --csv --kernel-name-base demangled \
    --kernel-name "regex:insert_body|upsert_items|displace_items|partition|region_build" \
    --metrics "$(IFS=,; echo "${metrics[*]}")" \
    "$program" bench dynamic/static --space cuda --input {tw,re,line,rand}:n=16777216 com --load-factor 0.9 --repeat 1 \
    --designs published_linear_probing,published_cuckoo,published_mega_kv,published_dyhash,dynamic_cuckoo >"$folder/dynamic_ncu.csv" ||
    echo "   ncu gave no figures (may it read the counters? see $folder/dynamic_ncu.csv)"
}

# One thread walks a row of a graph alone, so where one key is a twentieth of the right side the graphs are left out.
step_hashgraph() {
  bench hashgraph_join bench hashgraph/join --space cuda --skew none,left
  bench hashgraph_join_skewed bench hashgraph/join --space cuda --skew right --designs join,join_by_table,sort_merge
  bench hashgraph_join_kinds bench hashgraph/join --space cuda --skew none --copies 1 --found 0.5 --kinds left,semi,anti
  bench hashgraph_updates bench hashgraph/updates --space cuda --n 4M,64M --load-factor 1,4
  bench hashgraph_cells bench hashgraph/cells --space cuda
  bench hashgraph_probes bench hashgraph/probes --space cuda
  local meshes=(build/meshes/*.ele)
  if [ -e "${meshes[0]}" ]; then
    bench hashgraph_meshes bench hashgraph/meshes --space cuda --repeat 20 "${meshes[@]}"
  else
    echo "   no meshes in build/meshes, so those are left out (scripts/meshes.sh makes them, elsewhere too)"
  fi
}

# Every table and figure of the papers. What this commit has recorded is left out, so a stopped run goes on.
# scripts/record.sh MACHINE --from FOLDER records them.
step_papers() {
  # shellcheck disable=SC2086 # words are wanted
  "$program" reproduce all --space cuda --results "$(results)" ${TILEHASH_REPRODUCE:-}
}

# ---------------------------------------------------------------------------------------------------------
known=" configure build code test differential memcheck racecheck initcheck synccheck inputs run ceilings yardstick calls tail aggregation growth goals thesis horton coherent dynamic hashgraph papers "
steps=()
[ $# -gt 0 ] || set -- configure build code test differential sanitize inputs bench
for step in "$@"; do
  case "$step" in
    sanitize) steps+=(memcheck racecheck initcheck synccheck) ;;
    bench) steps+=(run ceilings yardstick calls tail aggregation growth goals) ;;
    *)
      [[ $known == *" $step "* ]] || die "unknown step '$step' (known:${known}sanitize bench)"
      steps+=("$step")
      ;;
  esac
done

command -v nvidia-smi >/dev/null || die "no nvidia-smi here: this script is for a machine with an NVIDIA GPU"
have_gpu || die "nvidia-smi finds no GPU"
find_nvcc >/dev/null || die "nvcc not found: put it on PATH or set CUDA_HOME"
say "GPU: $(gpu_query name), driver $(gpu_query driver_version); commit $(commit)"

summary=()
failed=0
for step in "${steps[@]}"; do
  say "step $step"
  begin=$SECONDS
  set +e
  (
    set -e
    "step_$step"
  )
  status=$?
  set -e
  if [ "$status" -eq 0 ]; then
    line=$(printf 'ok      %-13s %5d s' "$step" $((SECONDS - begin)))
  else
    line=$(printf 'FAILED  %-13s %5d s' "$step" $((SECONDS - begin)))
    failed=$((failed + 1))
  fi
  say "$line"
  summary+=("$line")
done

echo
say "summary"
printf '   %s\n' "${summary[@]}"
if [ "$failed" -gt 0 ]; then die "$failed of ${#steps[@]} steps failed"; fi
say "all ${#steps[@]} steps passed"
