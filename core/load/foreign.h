#pragma once
// What a file is that is no trace, and the one thing to do with it: what people pass by mistake.
#include <string>
#include <string_view>
#include <vector>

namespace gapscope {

// Two sentences about `shown`, e.g. "a.nsys-rep is an Nsight Systems report, not a trace. Export it: nsys export ...",
// by the beginning of its text, unpacked, and the file's name. Empty where neither says it.
std::string foreign_file(std::string_view beginning, const std::string& path, const std::string& shown);

// The same of JSON by the keys at its top level; of JSON without such keys by its beginning.
std::string foreign_json(const std::vector<std::string>& keys, std::string_view beginning, const std::string& shown);

}  // namespace gapscope
