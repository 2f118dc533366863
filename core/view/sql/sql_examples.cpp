#include "core/view/sql/sql_examples.h"

#include <algorithm>
#include <array>
#include <string>

namespace gapscope {
namespace {

constexpr auto kExamples = std::to_array<SqlExample>({
    {"Kernels by time", "Where the GPU's time goes, by name.",
     "select short_name, kind, count(*) as count, sum(dur) as total_ns, avg(dur) as mean_ns\n"
     "from kernel\ngroup by name\norder by total_ns desc"},
    {"GPU time by kind of kernel", "Matrix products, attention, elementwise work, communication: their shares.",
     "select kind, sum(dur) as total_ns, 100.0 * sum(dur) / (select sum(dur) from kernel) as percent\n"
     "from kernel\ngroup by kind\norder by total_ns desc"},
    {"Longest gaps", "The longest idle times of the GPU, why, and what ended them.",
     "select ts, dur, main_cause, ended_by_name\nfrom gpu_gap\norder by dur desc\nlimit 50"},
    {"Idle time by cause", "All gaps added up by their main cause.",
     "select main_cause, count(*) as gaps, sum(dur) as total_ns\nfrom gpu_gap\ngroup by main_cause\norder by total_ns desc"},
    {"Where each step's time went", "The time account of every step, in nanoseconds.",
     "select step, ts, dur, compute_ns, exposed_communication_ns, exposed_copies_ns, idle_ns\n"
     "from account\nwhere step is not null\norder by ts"},
    {"Operators by GPU time", "Which operators the GPU works for, with the kernels that they launched themselves.",
     "select name, count(*) as calls, sum(gpu_ops) as gpu_ops, sum(gpu_dur) as gpu_ns, sum(self_dur) as self_cpu_ns\n"
     "from op\ngroup by name\norder by gpu_ns desc"},
    {"One operator's shapes", "How often an operator was called with which shapes.",
     "select input_dims, count(*) as calls, sum(dur) as cpu_ns, sum(gpu_dur) as gpu_ns\n"
     "from op\nwhere name = 'aten::mm'\ngroup by input_dims\norder by gpu_ns desc"},
    {"Launch delays", "How long kernels waited after the call that launched them had returned.",
     "select id, ts, dur, short_name, launch_delay\nfrom kernel\norder by launch_delay desc\nlimit 50"},
    {"Low occupancy", "Kernels whose blocks leave most of the GPU's warp slots empty, by time.",
     "select short_name, achieved_occupancy, occupancy_limiter, count(*) as count, sum(dur) as total_ns\n"
     "from kernel\nwhere achieved_occupancy < 25\ngroup by name\norder by total_ns desc"},
    {"CUDA calls by time", "Which calls of the runtime and driver the host spends its time in.",
     "select name, count(*) as calls, sum(dur) as total_ns, max(dur) as longest_ns\n"
     "from slice\nwhere category in ('cuda_runtime', 'cuda_driver')\ngroup by name\norder by total_ns desc"},
    {"What surrounds a slice", "The way from a kernel's launch up to the outermost slice of its thread.",
     "with one as (select launch_id from kernel where launch_id is not null order by dur desc limit 1)\n"
     "select a.depth, a.id, a.ts, a.dur, a.name\nfrom one join ancestor_slice(one.launch_id) as a\norder by a.depth"},
    {"What the diagnosis found", "Every finding with its cost and what to do.",
     "select severity, title, cost as cost_ns, remedy, ts, dur\nfrom finding\norder by id"},
});

constexpr auto kWords = std::to_array<std::string_view>({
    "abs",
    "all",
    "ancestor_slice",
    "and",
    "as",
    "asc",
    "avg",
    "between",
    "by",
    "case",
    "cast",
    "coalesce",
    "count",
    "create",
    "cross",
    "demangle",
    "desc",
    "descendant_slice",
    "distinct",
    "else",
    "end",
    "except",
    "exists",
    "extract_arg",
    "following_flow",
    "from",
    "glob",
    "group",
    "group_concat",
    "having",
    "ifnull",
    "iif",
    "in",
    "include",
    "inner",
    "intersect",
    "is",
    "join",
    "lag",
    "lead",
    "left",
    "length",
    "like",
    "limit",
    "lower",
    "max",
    "median",
    "min",
    "module",
    "not",
    "null",
    "offset",
    "on",
    "or",
    "order",
    "over",
    "partition",
    "percentile",
    "perfetto",
    "preceding_flow",
    "recursive",
    "regexp",
    "replace",
    "round",
    "row_number",
    "select",
    "slice_is_ancestor",
    "substr",
    "sum",
    "table",
    "then",
    "time_to_ms",
    "trace_dur",
    "trace_end",
    "trace_start",
    "union",
    "upper",
    "using",
    "values",
    "view",
    "when",
    "where",
    "window",
    "with",
});
static_assert(std::is_sorted(kWords.begin(), kWords.end()));

}  // namespace

// GPU work of every kind, as the tab Kernels has it.
const char* const kKernelsAsSql =
    "select s.name, ifnull(k.kind, s.category) as kind, count(*) as count, sum(s.dur) as total_ns, avg(s.dur) as mean_ns,\n"
    "  min(s.dur) as min_ns, max(s.dur) as max_ns\n"
    "from slice s left join kernel k on k.id = s.id\n"
    "where s.category in ('kernel', 'gpu_memcpy', 'gpu_memset')\n"
    "group by s.name, s.category\n"
    "order by total_ns desc";
const char* const kFindingsAsSql =
    "select id, rule, severity, title, cost as cost_ns, summary, ts, dur, slice_id\nfrom finding\norder by id";
const char* const kStepsAsSql =
    "select name, span_ts as ts, span_dur as dur, kernel_ns, memcpy_ns, memset_ns, communication_ns, runtime_ns,\n"
    "  data_loader_ns, cpu_exec_ns, other_ns\nfrom step\norder by ts";
// The rows and calls of key_averages(): an operator that is all that one of its own name holds counts as one with it.
const char* const kOperatorsAsSql =
    "with event as (\n"
    "  select iif(s.name glob 'ProfilerStep#*', 'ProfilerStep*', s.name) as name, s.dur,\n"
    "    iif(s.category in ('kernel', 'gpu_memcpy', 'gpu_memset', 'gpu_user_annotation', 'cuda_sync'), 'CUDA', 'CPU') as "
    "device\n"
    "  from slice s left join slice parent on parent.id = s.parent_id\n"
    "  where s.category in ('cpu_op', 'user_annotation', 'cuda_runtime', 'cuda_driver', 'overhead',\n"
    "    'kernel', 'gpu_memcpy', 'gpu_memset', 'gpu_user_annotation', 'cuda_sync')\n"
    "    and not (s.category = 'cpu_op' and ifnull(parent.name, '') = s.name\n"
    "      and (select count(*) from slice other where other.parent_id = s.parent_id and other.category = 'cpu_op') = 1)),\n"
    "operator as (select name, sum(self_dur) as self_cpu_ns, sum(gpu_dur) as self_cuda_ns from op group by name)\n"
    "select name, device, count(*) as calls, sum(dur) as total_ns, self_cpu_ns, self_cuda_ns\n"
    "from event left join operator using (name)\n"
    "group by name, device\n"
    "order by self_cuda_ns desc, total_ns desc";

std::span<const SqlExample> sql_examples() { return kExamples; }
std::span<const std::string_view> sql_words() { return kWords; }

bool is_sql_keyword(std::string_view word) {
  std::string lower(word);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return std::binary_search(kWords.begin(), kWords.end(), std::string_view(lower));
}

}  // namespace gapscope
