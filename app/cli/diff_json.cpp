// `gapscope diff --json`.
#include <nlohmann/json.hpp>

#include "app/cli/diff.h"
#include "app/cli/in_and_out.h"
#include "app/cli/said_doubts.h"
#include "core/base/table/output.h"
#include "core/compare/difference_columns.h"

namespace gapscope {
namespace {

using Json = nlohmann::ordered_json;

Json spread_json(const StepSpread& s) {
  return {{"median", s.median}, {"min", s.min}, {"max", s.max}, {"lower", s.lower}, {"upper", s.upper}};
}

Json values_json(const StepValues& values) {
  Json out = Json::object();
  for (std::size_t f = 0; f < kStepFigures; ++f) out[std::string(figure_key(static_cast<StepFigure>(f)))] = values[f];
  return out;
}

Json side_json(const Side& side) {
  Json out = {{"file", side.file},         {"steps", side.steps},
              {"steps_of", side.steps_of}, {"steps_counted", side.counted},
              {"picked", side.picked},     {"compiled", side.has_compiled_regions}};
  for (std::size_t f = 0; f < kStepFigures; ++f) {
    const auto figure = static_cast<StepFigure>(f);
    out[std::string(figure_key(figure))] = is_time(figure) ? spread_json(side.figures[f]) : Json(side.figures[f].median);
  }
  out["picked_values"] = values_json(side.picked_values);
  out["cold"] = side.cold ? values_json(*side.cold) : Json(nullptr);
  return out;
}

Json change_json(const FigureChange& c) {
  return {{"figure", figure_key(c.figure)},
          {"ratio", or_null(c.ratio)},
          {"ratio_low", or_null(c.ratio_low)},
          {"ratio_high", or_null(c.ratio_high)},
          {"interval", c.interval ? Json({c.interval->low, c.interval->high}) : Json(nullptr)},
          {"differs", c.differs}};
}

Json problem_json(const Problem& p) {
  return {{"operations", or_null(p.operations)},
          {"elements", or_null(p.elements)},
          {"rows", or_null(p.rows)},
          {"tokens", or_null(p.tokens)},
          {"types", p.types},
          {"devices", p.devices},
          {"device_count", p.device_count},
          {"world_size", p.world_size > 0 ? Json(p.world_size) : Json(nullptr)}};
}

Json likeness_json(const Likeness& like) {
  Json per_unit = Json::array();
  for (const PerUnit& u : like.per_unit)
    per_unit.push_back({{"unit", u.unit}, {"a", u.a}, {"b", u.b}, {"gpu_busy_ns_a", u.ns_a}, {"gpu_busy_ns_b", u.ns_b}});
  return {{"work", work_key(like.work)},
          {"a", problem_json(like.a)},
          {"b", problem_json(like.b)},
          {"differences", like.differences},
          {"per_unit", std::move(per_unit)}};
}

Json use_json(const std::vector<UseRow>& use) {
  Json out = Json::array();
  for (const UseRow& row : use) out.push_back({{"key", row.key}, {"a", or_null(row.a)}, {"b", or_null(row.b)}});
  return out;
}

Json finding_json(const ComparisonFinding& f) {
  Json evidence = Json::object();
  for (const ComparedNumber& n : f.evidence) evidence[n.key] = {n.a, n.b};
  if (!f.names_a.empty()) evidence["only_a"] = f.names_a;
  if (!f.names_b.empty()) evidence["only_b"] = f.names_b;
  return {{"rule", f.rule},
          {"title", f.title},
          {"summary", f.summary},
          {"tone", tone_name(f.tone)},
          {"evidence", std::move(evidence)}};
}

}  // namespace

std::string comparison_json(const DiffSide& a, const DiffSide& b, const Comparison& c, const std::vector<UseRow>& use) {
  Json json = {{"verdict", c.verdict},
               {"a", with_doubts(side_json(c.a), a.doubts())},
               {"b", with_doubts(side_json(c.b), b.doubts())},
               {"changes", Json::array()}};
  for (const FigureChange& change : c.changes) json["changes"].push_back(change_json(change));
  json["like"] = likeness_json(c.like);
  json["use"] = use_json(use);
  json["kernel_classes"] = Json::object();
  for (std::size_t i = 0; i < kKernelChangeClasses; ++i) {
    const KernelClassTotal& t = c.kernel_totals[i];
    json["kernel_classes"][std::string(kernel_change_name(static_cast<KernelChangeClass>(i)))] = {
        {"count_a", t.count_a}, {"count_b", t.count_b}, {"ns_a", t.ns_a}, {"ns_b", t.ns_b}};
  }
  const auto rows_json = [](const TableRows& table) { return json_of(table, first_rows(table, table.rows())); };
  json["kernels"] = rows_json(*kernel_change_rows(c));
  json["operators"] = rows_json(*operator_rows(c));
  json["operators_cut"] = c.operators_cut;
  json["findings"] = Json::array();
  for (const ComparisonFinding& f : c.findings) json["findings"].push_back(finding_json(f));
  json["notes"] = c.notes;
  return json_text(json);
}

std::string sweep_json(const std::vector<SweepRow>& rows) {
  Json json = {
      {"baseline", rows.empty() ? Json(nullptr) : with_doubts(side_json(rows.front().comparison.a), rows.front().doubts_a)},
      {"traces", Json::array()}};
  for (const SweepRow& row : rows) {
    Json one = {{"verdict", row.comparison.verdict},
                {"side", with_doubts(side_json(row.comparison.b), row.doubts_b)},
                {"changes", Json::array()}};
    for (const FigureChange& change : row.comparison.changes) one["changes"].push_back(change_json(change));
    one["like"] = likeness_json(row.comparison.like);
    one["use"] = use_json(row.use);
    json["traces"].push_back(std::move(one));
  }
  return json_text(json);
}

}  // namespace gapscope
