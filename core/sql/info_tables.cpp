// Counters, and what is known of the trace as a whole.
#include <algorithm>
#include <memory>

#include <nlohmann/json.hpp>

#include "core/analyze/doubts.h"
#include "core/base/parse_json.h"
#include "core/session/trace_session.h"
#include "core/sql/column_table.h"
#include "core/sql/tables.h"

namespace gapscope::sql {
namespace {

using enum Quantity;

struct Sample {
  std::uint32_t id, track;
  const CounterSample* said;
};
constexpr ColumnOf<Sample, InWorld> kCounter[] = {
    {"id", id, "number of the sample, by track and time", &field<&Sample::id>},
    {"ts", ns, "when", [](const InWorld&, const Sample& s) -> CellValue { return s.said->time; }},
    {"track_id", id, "counter_track.id", &field<&Sample::track>},
    {"value", real, "from then on", [](const InWorld&, const Sample& s) -> CellValue { return s.said->value; }},
};

// Samples of all series one after the other.
class CounterRows final : public ColumnRows {
 public:
  explicit CounterRows(World& world)
      : ColumnRows(
            std::span<const ColumnOf<Sample, InWorld>>(kCounter), [this] { return make(); },
            1 + 100.0 * static_cast<double>(world.trace().counters.size())),
        world_(world) {}
  double rows_with_value(int column) const override { return column == 2 ? 100 : column == 0 ? 1 : 0; }
  std::vector<std::uint32_t> find(int column, std::int64_t value) override {
    std::vector<std::uint32_t> found;
    if (column == 0 && value >= 0 && value < rows()) found.push_back(static_cast<std::uint32_t>(value));
    for (const Sample& sample : samples_)
      if (column != 0 && sample.track == value) found.push_back(sample.id);
    return found;
  }

 private:
  std::unique_ptr<TableRows> make() {
    samples_.clear();
    const auto& counters = world_.trace().counters;
    for (std::size_t c = 0; c < counters.size(); ++c)
      for (const CounterSample& sample : counters[c].samples)
        samples_.push_back({static_cast<std::uint32_t>(samples_.size()), world_.tracks().of_counter(c), &sample});
    return rows_of(kCounter, InWorld{world_}, std::span<const Sample>(samples_));
  }
  World& world_;
  std::vector<Sample> samples_;
};

constexpr ColumnOf<Span, InWorld> kBounds[] = {
    {"start_ts", ns, "first begin of a slice or instant", &field<&Span::begin>},
    {"end_ts", ns, "last end of one", &field<&Span::end>},
};

bool loses_data(ImportIssue kind) {
  switch (kind) {
    case ImportIssue::truncated:
    case ImportIssue::bad_event:
    case ImportIssue::no_timestamp:
    case ImportIssue::absurd_time:
    case ImportIssue::not_an_object:
    case ImportIssue::too_many:
    case ImportIssue::gpu_number: return true;
    default: return false;
  }
}

constexpr ColumnOf<ImportIssueEntry, InWorld> kStats[] = {
    {"name", text, "what was odd about the file: negative_duration, truncated, ...",
     [](const InWorld&, const ImportIssueEntry& e) -> CellValue { return import_issue_word(e.kind); }},
    {"key", text, "always NULL", null},
    {"idx", id, "always NULL", null},
    {"severity", text, "data_loss where events could not be read, else info",
     [](const InWorld&, const ImportIssueEntry& e) -> CellValue { return loses_data(e.kind) ? "data_loss" : "info"; }},
    {"source", text, "trace", [](const InWorld&, const ImportIssueEntry&) -> CellValue { return "trace"; }},
    {"value", count, "how often", &field<&ImportIssueEntry::count>},
    {"description", text, "what it means",
     [](const InWorld&, const ImportIssueEntry& e) -> CellValue { return import_issue_sentence(e); }},
};

constexpr ColumnOf<Producer, InWorld> kProducer[] = {
    {"id", text, "jax, pytorch, ...", [](const InWorld&, const Producer& p) -> CellValue { return p.id; }},
    {"title", text, "its name", [](const InWorld&, const Producer& p) -> CellValue { return p.title; }},
};
constexpr ColumnOf<Doubt, InWorld> kDoubts[] = {
    {"kind", text, "clock_offset, lost_kernels, ...",
     [](const InWorld&, const Doubt& d) -> CellValue { return doubt_word(d.kind); }},
    {"count", count, "of what it counts", &field<&Doubt::count>},
    {"affects", text, "what cannot be trusted", [](const InWorld&, const Doubt& d) -> CellValue { return d.affects; }},
    {"said", text, "in sentences", [](const InWorld&, const Doubt& d) -> CellValue { return std::string_view(d.said); }},
    {"mended", count, "1 where it is put right as far as it can be",
     [](const InWorld&, const Doubt& d) -> CellValue { return std::int64_t{d.mended}; }},
};

struct MetadataRow {
  std::string name;
  ArgValue value;
  std::uint32_t id = 0;
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

CellValue whole_value(const InWorld&, const MetadataRow& r) {
  if (const auto* flag = std::get_if<bool>(&r.value)) return std::int64_t{*flag};
  const auto* number = std::get_if<std::int64_t>(&r.value);
  return number ? CellValue(*number) : CellValue();
}
constexpr ColumnOf<MetadataRow, InWorld> kMetadata[] = {
    {"id", id, "number of the row", &field<&MetadataRow::id>},
    {"name", text, "key at the top of the file, with the way to a value inside: deviceProperties[0].name",
     [](const InWorld&, const MetadataRow& r) -> CellValue { return std::string_view(r.name); }},
    {"key_type", text, "single", [](const InWorld&, const MetadataRow&) -> CellValue { return "single"; }},
    {"int_value", id, "of whole numbers, and of true and false", whole_value},
    {"str_value", text, "of everything else",
     [](const InWorld& in, const MetadataRow& r) {
       return whole_value(in, r).absent() ? CellValue(display_value(r.value)) : CellValue();
     }},
};

std::vector<MetadataRow> metadata_rows(const Header& header) {
  std::vector<MetadataRow> rows;
  if (header.has_base_time) rows.push_back({"baseTimeNanoseconds", header.base_time});
  for (std::size_t i = 0; i < header.devices.size(); ++i) add_device(i, header.devices[i], rows);
  for (const auto& [key, json] : header.metadata)
    if (key != "deviceProperties" && key != "baseTimeNanoseconds") add_metadata(key, json, rows);
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i].id = static_cast<std::uint32_t>(i);
  return rows;
}

}  // namespace

void add_counter_table(World& world, TableList& out) {
  out.push_back(column_table("counter", "samples of counters", std::make_unique<CounterRows>(world)));
}
void add_info_tables(World& world, TableList& out) {
  const InWorld in{world};
  out.push_back(column_table(
      "trace_bounds", "what the trace spans", kBounds, in, [&world] { return std::vector{world.bounds()}; }, 1));
  out.push_back(column_table(
      "stats", "the load report: what was odd about the file", kStats, in, [&world] { return world.trace().report.entries(); },
      20));
  out.push_back(column_table(
      "producer", "what wrote the file", kProducer, in, [&world] { return std::vector{*world.trace().producer}; }, 1));
  out.push_back(column_table(
      "doubts", "what is not as recordings are", kDoubts, in,
      [&world] { return doubts_of(world.trace(), world.session().ops()); }, 1));
  out.push_back(column_table(
      "metadata", "the entries at the top of the file", kMetadata, in, [&world] { return metadata_rows(world.trace().header); },
      100));
}

}  // namespace gapscope::sql
