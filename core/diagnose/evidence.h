#pragma once
// The numbers that prove a finding, as a small tree that the command line prints as JSON and the window as lines.
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core/base/time.h"

namespace gapscope {

class EvidenceValue;
using EvidenceList = std::vector<EvidenceValue>;
using EvidenceMap = std::vector<std::pair<std::string, EvidenceValue>>;

class EvidenceValue {
 public:
  using Any = std::variant<std::int64_t, double, bool, std::string, EvidenceList, EvidenceMap>;

  EvidenceValue(double v) : value(v) {}
  EvidenceValue(bool v) : value(v) {}
  EvidenceValue(const char* v) : value(std::string(v)) {}
  EvidenceValue(std::string_view v) : value(std::string(v)) {}
  EvidenceValue(std::string v) : value(std::move(v)) {}
  EvidenceValue(EvidenceList v) : value(std::move(v)) {}
  EvidenceValue(EvidenceMap v) : value(std::move(v)) {}
  template <class Integer>
  requires std::integral<Integer> EvidenceValue(Integer v) : value(static_cast<std::int64_t>(v)) {}
  // Not the variant's own copying: where that runs out of memory, libstdc++ takes apart what it has not made (seen in GCC 12).
  EvidenceValue(const EvidenceValue& other) : value(std::int64_t{0}) { value = other.value; }
  EvidenceValue(EvidenceValue&&) noexcept = default;
  EvidenceValue& operator=(const EvidenceValue&) = default;
  EvidenceValue& operator=(EvidenceValue&&) noexcept = default;
  ~EvidenceValue() = default;

  Any value;
};

// Nanoseconds as the microseconds that evidence speaks in: keys that end in _us.
inline double as_us(Ns ns) { return static_cast<double>(ns) / static_cast<double>(kNsPerUs); }

class Evidence {
 public:
  Evidence() = default;
  Evidence(EvidenceMap entries) : entries_(std::move(entries)) {}
  void add(std::string_view key, EvidenceValue value);
  const EvidenceMap& entries() const { return entries_; }
  // The value of a key, or null.
  const EvidenceValue* find(std::string_view key) const;

 private:
  EvidenceMap entries_;
};

}  // namespace gapscope
