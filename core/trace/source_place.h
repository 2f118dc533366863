#pragma once
// Where in the program's sources a slice is, as its name says.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gapscope {

struct SourcePlace {
  std::string file;
  std::int64_t line = 0;
  friend bool operator==(const SourcePlace&, const SourcePlace&) = default;
};
// Of "model/train.py(12): step", or as JAX writes it "$train.py:12 step"; none of other names.
std::optional<SourcePlace> source_place(std::string_view name);
// "step" of both; the whole name of others.
std::string_view function_of_frame(std::string_view name);
// "model/train.py:12".
std::string place_text(const SourcePlace& place);

}  // namespace gapscope
