// Whole files in memory. Every failure is an input_error that names the file.
#pragma once

#include <string>

namespace tilehash::app {

std::string read_file(const std::string& path);  // unpacks what is called *.gz; an empty file is an error
std::string gunzip(
    const std::string& path);  // in gunzip_zlib.cpp, or gunzip_missing.cpp where there is no zlib

}  // namespace tilehash::app
