#pragma once
// Addresses that people give where a file is asked for.
#include <string>
#include <string_view>

namespace gapscope {

// The command that fetches what "https://...", "s3://...", "gs://..." or "hf://..." names into the current folder; empty where
// the text is no such address.
std::string fetch_command(std::string_view text);

// A sentence about an address that was given as a file; empty where it is none.
std::string address_error(const std::string& text);

// "file:///tmp/a%20b.json" -> "/tmp/a b.json"; any other text as it is, and so an address of another machine's file.
std::string without_file_scheme(const std::string& text);

}  // namespace gapscope
