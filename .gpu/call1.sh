#!/usr/bin/env bash
# call 1: build everything, run the cuda tests
export TILEHASH_COMMIT=b9d4226 TILEHASH_RESULTS_DIR=$OUT/results
export TILEHASH_CMAKE_OPTIONS="-DTILEHASH_CLI_PAIRS=u32/u32 -DTILEHASH_BUILD_EXAMPLES=OFF"
mkdir -p $OUT/results
nvidia-smi | head -15; uname -r
T0=$SECONDS
scripts/gpu_check.sh configure build 2>&1 | tail -60 | tee $OUT/build.log
echo "build done at $((SECONDS-T0))"
timeout 330 scripts/gpu_check.sh test differential > $OUT/test.log 2>&1
tail -60 $OUT/test.log
echo "tests done at $((SECONDS-T0))"
b=build/gpu/bin/tilehash
timeout $((570-SECONDS)) $b bench yardstick --space cuda --designs tiled,horton,bucketed_cuckoo,bucketed_cuckoo_balanced,robin_hood,robin_hood_random --n 4M,64M --load 0.9 --repeat 3 --json $OUT/y09.json 2>&1 | tail -90
echo "all at $SECONDS"
