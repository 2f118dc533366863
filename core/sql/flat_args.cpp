#include "core/sql/flat_args.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/base/parse_json.h"

namespace gapscope::sql {
namespace {

using Json = nlohmann::ordered_json;

void put(std::string flat_key, std::string key, ArgValue value, std::vector<FlatArg>& out) {
  out.push_back({std::move(flat_key), std::move(key), std::move(value)});
}

void walk(const Json& value, const std::string& flat_key, const std::string& key, std::vector<FlatArg>& out) {
  if (value.is_array()) {
    std::size_t at = 0;
    for (const Json& item : value)
      if (!item.is_null()) walk(item, flat_key, fmt::format("{}[{}]", key, at++), out);
  } else if (value.is_object()) {
    for (const auto& [name, item] : value.items()) walk(item, flat_key + '.' + name, key + '.' + name, out);
  } else if (value.is_boolean()) {
    put(flat_key, key, value.get<bool>(), out);
  } else if (value.is_number_float() ||
             (value.is_number_unsigned() && value.get<std::uint64_t>() > static_cast<std::uint64_t>(INT64_MAX))) {
    put(flat_key, key, value.get<double>(), out);
  } else if (value.is_number_integer()) {
    put(flat_key, key, value.get<std::int64_t>(), out);
  } else if (value.is_string()) {
    put(flat_key, key, value.get<std::string>(), out);
  }
}

}  // namespace

void flatten_value(const Arg& arg, std::vector<FlatArg>& out) {
  const std::string key = "args." + arg.key;
  if (arg.is_text) return put(key, key, arg.value, out);
  const Result<Json> json = parse_json(arg.value);
  if (!json) return put(key, key, arg.value, out);  // NaN and the like, which JSON does not know: as it is
  walk(*json, key, key, out);
}

std::vector<FlatArg> flatten(const std::vector<Arg>& args) {
  std::vector<FlatArg> out;
  for (std::size_t i = 0; i < args.size(); ++i) {
    const auto again = [&](const Arg& later) { return later.key == args[i].key; };
    if (std::none_of(args.begin() + static_cast<std::ptrdiff_t>(i) + 1, args.end(), again)) flatten_value(args[i], out);
  }
  return out;
}

std::string_view member_of_key(std::string_view key) {
  if (!key.starts_with("args.")) return {};
  key.remove_prefix(5);
  return key.substr(0, key.find_first_of(".["));
}

const char* value_type(const ArgValue& value) {
  constexpr const char* kTypes[] = {"int", "real", "bool", "string"};
  return kTypes[value.index()];
}

std::string display_value(const ArgValue& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return std::to_string(*integer);
  if (const auto* real = std::get_if<double>(&value)) return fmt::format("{:f}", *real);
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  return std::get<std::string>(value);
}

}  // namespace gapscope::sql
