// The columns of `slice`, and the value of each.
#include <array>

#include "core/analyze/work/floors.h"
#include "core/session/trace_session.h"
#include "core/sql/slice_table.h"

namespace gapscope::sql {
namespace {

constexpr std::array<ColumnInfo, 18> kColumns = {{
    {"id", Type::integer, "", "number of the slice: by begin, the longer first, then as in the file"},
    {"ts", Type::integer, "ns", "begin: the file's microseconds times 1000"},
    {"dur", Type::integer, "ns", "duration; 0 for an instant, -1 for a slice that never ended"},
    {"track_id", Type::integer, "", "track.id"},
    {"category", Type::text, "", "the event's \"cat\": kernel, cpu_op, cuda_runtime, ..."},
    {"name", Type::text, "", "the event's name"},
    {"depth", Type::integer, "", "how many slices of its track enclose it"},
    {"parent_id", Type::integer, "", "the innermost slice of its track that encloses it"},
    {"arg_set_id", Type::integer, "", "args.arg_set_id; NULL where the event has no args"},
    {"cat", Type::text, "", "same as category"},
    {"slice_id", Type::integer, "", "same as id"},
    {"thread_ts", Type::integer, "ns", "always NULL: recordings of PyTorch have no CPU clock", true},
    {"thread_dur", Type::integer, "ns", "always NULL", true},
    {kCorrelationColumn, Type::integer, "", "extract_arg(arg_set_id, 'args.correlation')", true},
    {kExternalIdColumn, Type::integer, "", "extract_arg(arg_set_id, 'args.External id')", true},
    {"flops", Type::real, "", "operations of this call of an operator that owns GPU work, by its shapes", true},
    {"bytes", Type::real, "bytes", "what this call must move to and from memory", true},
    {"floor_ns", Type::integer, "ns", "the least time for its kernels; of a kernel, its share of that", true},
}};

static_assert(kColumns.size() == kSliceFloor + 1);

void give_known_arg(World& world, sqlite3_context* out, SliceRow row, const ArgKey& key) {
  const auto value = world.args().value(row, key);
  if (!value) return sqlite3_result_error(out, value.error().message.c_str(), -1);
  if (*value) give_arg(out, **value);
}

void give_arg_set(World& world, sqlite3_context* out, std::uint32_t id, SliceRow row) {
  const Result<bool> any = world.args().has_args(row);
  if (!any) return sqlite3_result_error(out, any.error().message.c_str(), -1);
  if (*any) give(out, std::int64_t{id});
}

void give_category(World& world, sqlite3_context* out, SliceRow row) {
  const std::string_view name = world.trace().strings[world.trace().categories[world.order().category(row)].name];
  if (!name.empty()) give(out, name);
}

void give_work(World& world, sqlite3_context* out, SliceId slice, int column) {
  const WorkTable& table = world.session().work();
  const CallWork* own = table.call(slice);
  if (!own && column == kSliceFloor) {
    if (const auto floor = floor_of_kernel(world.trace(), table, slice)) give(out, static_cast<std::int64_t>(*floor));
    return;
  }
  if (!own) return;
  const WorkRow& row = table.rows[own->row];
  if (column != kSliceFloor) {
    const auto& number = column == kSliceFlops ? row.each.flops : row.each.bytes;
    if (number) sqlite3_result_double(out, *number);
    return;
  }
  if (const Floor floor = floor_of(world.trace(), row); floor.floor_ns && row.count > 0)
    give(out, static_cast<std::int64_t>(*floor.floor_ns / static_cast<double>(row.count)));
}

}  // namespace

std::span<const ColumnInfo> slice_columns() { return kColumns; }

void give_slice_column(World& world, sqlite3_context* out, std::uint32_t id, int column) {
  const SliceOrder& order = world.order();
  const SliceRow row = order.row(id);
  static const ArgKey correlation("args.correlation"), external_id("args.External id");
  switch (column) {
    case kSliceId:
    case kSliceSliceId: return give(out, std::int64_t{id});
    case kSliceTs: return give(out, order.begin(row));
    case kSliceDur: return give(out, order.duration(row));
    case kSliceTrack: return give(out, std::int64_t{world.tracks().of_row(order, row)});
    case kSliceCategory:
    case kSliceCat: return give_category(world, out, row);
    case kSliceName:
      if (const std::string_view name = world.shown_name(row); !name.empty()) give(out, name);
      return;
    case kSliceDepth: return give(out, std::int64_t{world.tree().depth(row)});
    case kSliceParent:
      if (const SliceId parent = world.tree().parent(row)) give(out, std::int64_t{order.id(parent)});
      return;
    case kSliceArgSet: return give_arg_set(world, out, id, row);
    case kSliceCorrelation: return give_known_arg(world, out, row, correlation);
    case kSliceExternalId: return give_known_arg(world, out, row, external_id);
    case kSliceFlops:
    case kSliceBytes:
    case kSliceFloor:
      if (!order.is_instant(row)) give_work(world, out, SliceId(row), column);
      return;
    default: return;
  }
}

void give_arg(sqlite3_context* out, const ArgValue& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return give(out, *integer);
  if (const auto* real = std::get_if<double>(&value)) return sqlite3_result_double(out, *real);
  if (const auto* flag = std::get_if<bool>(&value)) return give(out, std::int64_t{*flag ? 1 : 0});
  give_copy(out, std::get<std::string>(value));
}

}  // namespace gapscope::sql
