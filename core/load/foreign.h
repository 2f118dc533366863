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

// Of JSON that is none of these: sentences on what it is, with what a trace has. By the keys at its top level, or where its
// array of events holds no objects.
std::string json_without_events(const std::vector<std::string>& keys, const std::string& shown);
std::string json_without_objects(bool is_object, const std::string& shown);

// Of what is found in folders, where other JSON is, too: what a file is that is plainly no trace, "with the keys name and
// version"; empty where it may be one, or where only loading says what is wrong with it. Reads 16 KiB of nearly all files.
std::string why_no_trace(const std::string& path);

}  // namespace gapscope
