#pragma once
// Files of the page's own file system whose bytes lie behind an address: on the server that the page came from, or in a file
// that was dropped onto it. Read by ranges, as they are asked for; nothing stays but the pieces that were read last.
#include <cstdint>
#include <string>

namespace gapscope {

// From then on `path`, whose folder is there, can be opened and read, on any thread but the page's own. False where it is
// taken.
bool add_url_file(const std::string& path, std::string url, std::uint64_t bytes);

}  // namespace gapscope
