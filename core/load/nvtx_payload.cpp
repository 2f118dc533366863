#include "core/load/nvtx_payload.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <optional>

#include <fmt/format.h>

#include "core/load/kineto_writer.h"

namespace gapscope {
namespace {

static_assert(std::endian::native == std::endian::little, "payloads are read as they were written");

constexpr std::size_t kMostFields = 64;  // of a schema
// Before the payload: domain, schema, bytes of the payload, and a length that is not needed; 8 bytes each.
constexpr std::size_t kHead = 32;
constexpr std::uint64_t kFirstOwnType = 1 << 24;  // above: enumerations and the program's own structures

enum class Form : std::uint8_t { none, whole, natural, real };
struct TypeRow {
  Form form = Form::none;
  std::uint8_t bytes = 0;
};
// NVTX_PAYLOAD_ENTRY_TYPE_*, from 0 on.
constexpr std::array<TypeRow, 24> kTypes = {{{},
                                             {Form::whole, 1},  // char
                                             {Form::natural, 1},
                                             {Form::whole, 2},  // short
                                             {Form::natural, 2},
                                             {Form::whole, 4},  // int
                                             {Form::natural, 4},
                                             {Form::whole, 8},  // long
                                             {Form::natural, 8},
                                             {Form::whole, 8},  // long long
                                             {Form::natural, 8},
                                             {Form::whole, 1},  // int8
                                             {Form::natural, 1},
                                             {Form::whole, 2},
                                             {Form::natural, 2},
                                             {Form::whole, 4},
                                             {Form::natural, 4},
                                             {Form::whole, 8},
                                             {Form::natural, 8},  // uint64
                                             {Form::real, 4},
                                             {Form::real, 8},
                                             {},                    // long double
                                             {Form::natural, 8},    // size
                                             {Form::natural, 8}}};  // address

TypeRow row_of(std::uint64_t type) {
  if (type >= kFirstOwnType) return {Form::whole, 4};
  return type < kTypes.size() ? kTypes[type] : TypeRow{};
}

template <class Number>
std::optional<Number> number_at(std::string_view bytes, std::uint64_t offset, std::size_t size = sizeof(Number)) {
  if (offset > bytes.size() || bytes.size() - offset < size) return std::nullopt;
  Number out{};
  std::memcpy(&out, bytes.data() + offset, size);
  return out;
}

void append_real(std::string& out, double number) { out += std::isfinite(number) ? fmt::format("{:e}", number) : "null"; }

}  // namespace

NvtxPayloads::NvtxPayloads(SqliteFile& file) {
  auto rows = file.rows("NVTX_PAYLOAD_SCHEMA_ENTRIES", {"domainId", "schemaId", "idx", "type", "name", "offset"});
  while (rows.next()) {
    auto& fields =
        schemas_[{static_cast<std::uint64_t>(rows.number_or(0, 0)), static_cast<std::uint64_t>(rows.number_or(1, 0))}];
    if (fields.size() < kMostFields && !rows.text(4).empty())
      fields[rows.number_or(2, 0)] = {std::string(rows.text(4)), static_cast<std::uint64_t>(rows.number_or(3, 0)),
                                      static_cast<std::uint64_t>(rows.number_or(5, 0))};
  }
  auto names = file.rows("NVTX_PAYLOAD_ENUM_ENTRIES", {"domainId", "schemaId", "value", "name"});
  while (names.next())
    enumerations_.try_emplace(
        {{static_cast<std::uint64_t>(names.number_or(0, 0)), static_cast<std::uint64_t>(names.number_or(1, 0))},
         names.number_or(2, 0)},
        names.text(3));
}

void NvtxPayloads::append(const Field& field, std::string_view bytes, std::uint64_t domain) {
  const TypeRow type = row_of(field.type);
  const auto raw = number_at<std::uint64_t>(bytes, field.offset, type.bytes);
  if (type.form == Form::none || !raw) return;
  const unsigned above = 64 - 8u * type.bytes;
  const auto whole = static_cast<std::int64_t>(*raw << above) >> above;
  text_ += text_.empty() ? '{' : ',';
  append_json_string(text_, field.name);
  text_ += ':';
  if (const auto name = enumerations_.find({{domain, field.type}, whole}); name != enumerations_.end())
    append_json_string(text_, name->second);
  else if (type.form == Form::real)
    append_real(text_, type.bytes == 4 ? static_cast<double>(*number_at<float>(bytes, field.offset))
                                       : *number_at<double>(bytes, field.offset));
  else
    text_ += type.form == Form::natural ? std::to_string(*raw) : std::to_string(whole);
}

std::string_view NvtxPayloads::json(std::string_view binary) {
  text_.clear();
  const auto domain = number_at<std::uint64_t>(binary, 0), schema = number_at<std::uint64_t>(binary, 8),
             size = number_at<std::uint64_t>(binary, 16);
  if (!domain || !schema || !size || binary.size() < kHead) return {};
  const auto fields = schemas_.find({*domain, *schema});
  if (fields == schemas_.end()) return {};
  for (const auto& [index, field] : fields->second) append(field, binary.substr(kHead, *size), *domain);
  if (!text_.empty()) text_ += '}';
  return text_;
}

}  // namespace gapscope
