// SPDX-License-Identifier: Apache-2.0
// Whole files in memory. Every failure is an input_error that names the file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tilehash::app {

// The file's bytes, of standard input where the path is "-"; what gzip or zstd packed is unpacked, whatever
// the file is called. An empty file is an error, and so is one that does not fit in the free memory.
std::string read_file(const std::string& path);

// The size of a regular file that is not packed: it is known before the file is read. Nothing for others.
std::optional<std::uint64_t> plain_size(const std::string& path);

std::string unpack(std::string bytes, const std::string& name);  // unchanged if it is not packed

// The kind of bytes that are no text, for messages: "gzip data", "a PNG picture", "binary data (byte 0x00 at
// 17)"; empty for text.
std::string describe_binary(std::string_view bytes);

// The text after a UTF-8 byte order mark, if it begins with one.
std::string_view without_byte_order_mark(std::string_view text);
// True where lines end with carriage returns alone: the text has some, and no newline.
bool ends_lines_with_returns(std::string_view text);

// In unpack_NAME.cpp, or unpack_NAME_missing.cpp where the library is missing.
std::string unpack_gzip(std::string_view bytes, const std::string& name);
std::string unpack_zstd(std::string_view bytes, const std::string& name);

}  // namespace tilehash::app
