// Counters, and what is told of the trace as a whole.
#include <algorithm>
#include <memory>

#include <nlohmann/json.hpp>

#include "core/base/parse_json.h"
#include "core/sql/list_table.h"
#include "core/sql/tables.h"

namespace gapscope::sql {
namespace {

constexpr ColumnInfo kCounter[] = {
    {"id", Type::integer, "", "number of the sample, by track and time"},
    {"ts", Type::integer, "ns", "when"},
    {"track_id", Type::integer, "", "counter_track.id"},
    {"value", Type::real, "", "from then on"},
};
constexpr ColumnInfo kBounds[] = {
    {"start_ts", Type::integer, "ns", "first begin of a slice or instant"},
    {"end_ts", Type::integer, "ns", "last end of one"},
};
constexpr ColumnInfo kStats[] = {
    {"name", Type::text, "", "what was odd about the file: negative_duration, truncated, ..."},
    {"key", Type::text, "", "always NULL"},
    {"idx", Type::integer, "", "always NULL"},
    {"severity", Type::text, "", "data_loss where events could not be read, else info"},
    {"source", Type::text, "", "trace"},
    {"value", Type::integer, "", "how often"},
    {"description", Type::text, "", "what it means"},
};
constexpr ColumnInfo kMetadata[] = {
    {"id", Type::integer, "", "number of the row"},
    {"name", Type::text, "", "key at the top of the file, with the way to a value inside: deviceProperties[0].name"},
    {"key_type", Type::text, "", "single"},
    {"int_value", Type::integer, "", "of whole numbers, and of true and false"},
    {"str_value", Type::text, "", "of everything else"},
};

// Samples of all series one after the other.
class CounterRows final : public RowList {
 public:
  explicit CounterRows(World& world) : world_(world) {}
  std::optional<Error> prepare() override {
    if (!first_.empty()) return std::nullopt;
    first_.push_back(0);
    for (const Counter& counter : world_.trace().counters)
      first_.push_back(first_.back() + static_cast<std::uint32_t>(counter.samples.size()));
    return std::nullopt;
  }
  std::uint32_t rows() override { return first_.back(); }
  void give_value(sqlite3_context* out, std::uint32_t row, int column) override {
    const auto counter = static_cast<std::size_t>(std::upper_bound(first_.begin(), first_.end(), row) - first_.begin()) - 1;
    const CounterSample& sample = world_.trace().counters[counter].samples[row - first_[counter]];
    switch (column) {
      case 0: return give(out, std::int64_t{row});
      case 1: return give(out, sample.time);
      case 2: return give(out, std::int64_t{world_.tracks().of_counter(counter)});
      default: return sqlite3_result_double(out, sample.value);
    }
  }
  double rows_with_value(int column) const override { return column == 2 ? 100 : column == 0 ? 1 : 0; }
  std::vector<std::uint32_t> find(int column, std::int64_t value) override {
    std::vector<std::uint32_t> found;
    if (column == 0) {
      if (value >= 0 && value < rows()) found.push_back(static_cast<std::uint32_t>(value));
      return found;
    }
    for (std::size_t c = 0; c + 1 < first_.size(); ++c)
      if (world_.tracks().of_counter(c) == value)
        for (std::uint32_t row = first_[c]; row < first_[c + 1]; ++row) found.push_back(row);
    return found;
  }
  double about_rows() const override { return 1 + 100.0 * static_cast<double>(world_.trace().counters.size()); }

 private:
  World& world_;
  std::vector<std::uint32_t> first_;  // row of each series' first sample; the number of all at the end
};

class BoundsRows final : public RowList {
 public:
  explicit BoundsRows(World& world) : world_(world) {}
  std::uint32_t rows() override { return 1; }
  void give_value(sqlite3_context* out, std::uint32_t, int column) override {
    give(out, column == 0 ? world_.bounds().begin : world_.bounds().end);
  }
  double about_rows() const override { return 1; }

 private:
  World& world_;
};

bool loses_data(ImportIssue kind) {
  switch (kind) {
    case ImportIssue::truncated:
    case ImportIssue::bad_event:
    case ImportIssue::no_timestamp:
    case ImportIssue::absurd_time:
    case ImportIssue::not_an_object:
    case ImportIssue::too_many: return true;
    default: return false;
  }
}

class StatsRows final : public RowList {
 public:
  explicit StatsRows(World& world) : entries_(world.trace().report.entries()) {}
  std::uint32_t rows() override { return static_cast<std::uint32_t>(entries_.size()); }
  void give_value(sqlite3_context* out, std::uint32_t row, int column) override {
    const ImportIssueEntry& entry = entries_[row];
    switch (column) {
      case 0: return give(out, import_issue_word(entry.kind));
      case 3: return give(out, std::string_view(loses_data(entry.kind) ? "data_loss" : "info"));
      case 4: return give(out, std::string_view("trace"));
      case 5: return give(out, static_cast<std::int64_t>(entry.count));
      case 6: return give_copy(out, import_issue_sentence(entry));
      default: return;
    }
  }
  double about_rows() const override { return static_cast<double>(entries_.size() + 1); }

 private:
  std::vector<ImportIssueEntry> entries_;
};

struct MetadataRow {
  std::string name;
  ArgValue value;
};

void add_metadata(const std::string& name, const std::string& json, std::vector<MetadataRow>& out) {
  std::vector<FlatArg> leaves;
  const bool quoted = json.size() >= 2 && json.front() == '"';
  if (const auto parsed = parse_json(json); quoted && parsed && parsed->is_string())
    return out.push_back({name, parsed->get<std::string>()});
  flatten_value({name, json, false}, leaves);
  for (FlatArg& leaf : leaves) out.push_back({leaf.key.substr(5), std::move(leaf.value)});  // without "args."
}

void add_device(std::size_t i, const DeviceProperties& d, std::vector<MetadataRow>& out) {
  const std::string prefix = "deviceProperties[" + std::to_string(i) + "].";
  const auto add = [&](const char* key, std::int64_t v) {
    if (v != 0) out.push_back({prefix + key, v});
  };
  out.push_back({prefix + "id", d.id});
  out.push_back({prefix + "name", d.name});
  add("totalGlobalMem", d.total_global_mem);
  add("computeMajor", d.compute_major);
  out.push_back({prefix + "computeMinor", d.compute_minor});
  add("maxThreadsPerBlock", d.max_threads_per_block);
  add("maxThreadsPerMultiprocessor", d.max_threads_per_sm);
  add("regsPerBlock", d.regs_per_block);
  add("warpSize", d.warp_size);
  add("sharedMemPerBlock", d.shared_mem_per_block);
  add("numSms", d.sms);
  add("regsPerMultiprocessor", d.regs_per_sm);
  add("sharedMemPerBlockOptin", d.shared_mem_per_block_optin);
  add("sharedMemPerMultiprocessor", d.shared_mem_per_sm);
}

class MetadataRows final : public RowList {
 public:
  explicit MetadataRows(World& world) {
    const Header& header = world.trace().header;
    if (header.has_base_time) rows_.push_back({"baseTimeNanoseconds", header.base_time});
    for (std::size_t i = 0; i < header.devices.size(); ++i) add_device(i, header.devices[i], rows_);
    for (const auto& [key, json] : header.metadata)
      if (key != "deviceProperties" && key != "baseTimeNanoseconds") add_metadata(key, json, rows_);
  }
  std::uint32_t rows() override { return static_cast<std::uint32_t>(rows_.size()); }
  void give_value(sqlite3_context* out, std::uint32_t row, int column) override {
    const MetadataRow& r = rows_[row];
    const auto* number = std::get_if<std::int64_t>(&r.value);
    const auto* flag = std::get_if<bool>(&r.value);
    switch (column) {
      case 0: return give(out, std::int64_t{row});
      case 1: return give(out, std::string_view(r.name));
      case 2: return give(out, std::string_view("single"));
      case 3:
        if (number || flag) give(out, number ? *number : std::int64_t{*flag ? 1 : 0});
        return;
      default:
        if (!number && !flag) give_copy(out, display_value(r.value));
        return;
    }
  }
  double about_rows() const override { return static_cast<double>(rows_.size() + 1); }

 private:
  std::vector<MetadataRow> rows_;
};

}  // namespace

void add_counter_table(World& world, TableList& out) {
  out.push_back(list_table("counter", "samples of counters", kCounter, std::make_unique<CounterRows>(world)));
}
void add_info_tables(World& world, TableList& out) {
  out.push_back(list_table("trace_bounds", "what the trace spans", kBounds, std::make_unique<BoundsRows>(world)));
  out.push_back(
      list_table("stats", "the load report: what was odd about the file", kStats, std::make_unique<StatsRows>(world)));
  out.push_back(list_table("metadata", "what stands at the top of the file", kMetadata, std::make_unique<MetadataRows>(world)));
}

}  // namespace gapscope::sql
