// Whole files in memory. Every failure is an input_error that names the file.
#pragma once

#include <string>
#include <string_view>

namespace tilehash::app {

// The file's bytes, of standard input where the path is "-"; what gzip or zstd packed is unpacked, whatever
// the file is called. An empty file is an error.
std::string read_file(const std::string& path);

std::string unpack(std::string bytes, const std::string& name);  // as it is where nobody packed it

// What bytes that are no text are, for messages: "gzip data", "a PNG picture", "binary data (byte 0x00 at
// 17)"; empty for text.
std::string describe_binary(std::string_view bytes);

// In unpack_NAME.cpp, or unpack_NAME_missing.cpp where the library is not there.
std::string unpack_gzip(std::string_view bytes, const std::string& name);
std::string unpack_zstd(std::string_view bytes, const std::string& name);

}  // namespace tilehash::app
