# SPDX-License-Identifier: Apache-2.0
# cmake -DPROGRAM=example_sparse_image -P Refuses.cmake
# What the example says to bad input; and what it takes, though it is unusual.
cmake_minimum_required(VERSION 3.24)
include(${CMAKE_CURRENT_LIST_DIR}/../Refuses.cmake)

set(always --repeat 1 --prefix sparse_image_refuses_)
set(pictures ${CMAKE_CURRENT_LIST_DIR}/pictures)

takes("9 x 7 pixels, 0 stored" ${pictures}/all_background.png)
takes("17 x 17 pixels, 104 stored" ${pictures}/palette.png)
takes("289 stored .100.0 %." ${pictures}/palette.png --background 123456)
takes("13 x 11 pixels, 8 of 16 bits a channel, 48 stored" ${pictures}/sixteen_bits.png)

refuses("truncated.png: the picture is damaged, or ends too early" ${pictures}/truncated.png)
refuses("Refuses.cmake: Not a PNG file" ${CMAKE_CURRENT_LIST_DIR}/Refuses.cmake)
refuses("none.png: No such file" none.png)
refuses("give one picture, or none" ${pictures}/palette.png ${pictures}/palette.png)
refuses("--background is 'white'. it must be six hexadecimal digits" --background white)
refuses("--load is '99'. it must be a number from 1 to 98" --load 99)
refuses("--side needs a value" --side)
refuses("unknown option --sides" --sides 8)
refuses("no_such_folder" ${pictures}/palette.png --prefix no_such_folder/)
