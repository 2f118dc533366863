#pragma once
// Payloads of NVTX ranges in an Nsight Systems export that are no number and no JSON: bytes (NVTX_EVENTS.binaryData), which
// schemas of the same file describe.
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/load/sqlite_file.h"

namespace gapscope {

class NvtxPayloads {
 public:
  explicit NvtxPayloads(SqliteFile& file);
  // A JSON object of the fields that are numbers, until the next call; empty where no schema describes them.
  std::string_view json(std::string_view binary);

 private:
  struct Field {
    std::string name;
    std::uint64_t type = 0, offset = 0;
  };
  using Id = std::pair<std::uint64_t, std::uint64_t>;  // of the domain and in it
  void append(const Field& field, std::string_view bytes, std::uint64_t domain);

  std::map<Id, std::map<std::int64_t, Field>> schemas_;              // their fields in order
  std::map<std::pair<Id, std::int64_t>, std::string> enumerations_;  // names, by type and value
  std::string text_;
};

}  // namespace gapscope
