#!/usr/bin/env bash
# call 2: figures
export TILEHASH_COMMIT=b9d4226 TILEHASH_RESULTS_DIR=$OUT/results
mkdir -p $OUT/results
b=build/gpu/bin/tilehash
if [ ! -x $b ]; then
  TILEHASH_CMAKE_OPTIONS="-DTILEHASH_CLI_PAIRS=u32/u32 -DTILEHASH_BUILD_EXAMPLES=OFF -DTILEHASH_BUILD_TESTS=OFF" scripts/gpu_check.sh configure build > $OUT/build.log 2>&1; tail -5 $OUT/build.log
  echo "built at $SECONDS"
fi
[ -f $OUT/y09.json ] || timeout 150 $b bench yardstick --space cuda --designs tiled,horton,robin_hood,robin_hood_random --n 4M,64M --load 0.8,0.9 --repeat 3 --json $OUT/y089.json 2>&1 | tail -90
echo "yardstick at $SECONDS"
timeout 120 $b bench coherent/images --space cuda --repeat 3 --json $OUT/images.json 2>&1 | tail -40
echo "images at $SECONDS"
timeout 60 $b bench coherent/layouts --space cuda --repeat 3 --json $OUT/layouts.json 2>&1 | tail -40
echo "layouts at $SECONDS"
timeout 100 $b bench tail --space cuda --json $OUT/tail.json 2>&1 | tail -40
echo "tail at $SECONDS"
timeout 60 $b bench calls --space cuda --json $OUT/calls.json 2>&1 | tail -60
echo "calls at $SECONDS"
cp build/gpu/bin/tilehash $OUT/tilehash.bin; strip $OUT/tilehash.bin; gzip -1 $OUT/tilehash.bin; ls -la $OUT
timeout $((590-SECONDS)) ncu --csv --kernel-name-base demangled --kernel-name regex:"look_up_lanes|insert|fill|region|erase" --launch-count 40 --metrics gpu__time_duration.sum,dram__bytes_read.sum,dram__bytes_write.sum,lts__t_bytes.sum,smsp__inst_executed.sum,sm__warps_active.avg.pct_of_peak_sustained_active,launch__registers_per_thread $b bench yardstick --space cuda --designs horton,robin_hood --n 64M --load 0.9 --repeat 1 > $OUT/ncu.csv 2>&1
cut -c1-300 $OUT/ncu.csv | tail -5
echo "all at $SECONDS"
