#pragma once
// An event's args as the table `args` has them: a row a leaf, named by the way to it ("args.Input Dims[0][1]"). As in Perfetto
// nulls and empty lists and objects give no row, and a null in a list does not count.
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/load/args.h"

namespace gapscope::sql {

using ArgValue = std::variant<std::int64_t, double, bool, std::string>;

struct FlatArg {
  std::string flat_key;  // "args.Input Dims"
  std::string key;       // "args.Input Dims[0][1]"
  ArgValue value;
};

// In file order; where a key comes twice, the later value at its place.
std::vector<FlatArg> flatten(const std::vector<Arg>& args);
// One value of a slice's args: `json` as it is in the file, or a text.
void flatten_value(const Arg& arg, std::vector<FlatArg>& out);

// "Input Dims" of "args.Input Dims[0][1]": what is in the event. Empty where it names no arg. Keys of nested objects are
// cut at the first dot or bracket, so that a key which holds one itself gives a shorter text.
std::string_view member_of_key(std::string_view key);

const char* value_type(const ArgValue& value);     // "int", "real", "bool", "string"
std::string display_value(const ArgValue& value);  // as Perfetto prints it: reals with six digits

}  // namespace gapscope::sql
