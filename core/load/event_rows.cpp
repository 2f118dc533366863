// What an event says becomes rows.
#include <algorithm>
#include <charconv>
#include <limits>

#include "core/base/hash.h"
#include "core/base/same_text.h"
#include "core/load/event_parser.h"

namespace gapscope {
namespace {

constexpr std::size_t kExampleChars = 200;
// Times up to 146 years from 0 are readable: then no two of them are further apart than an Ns can say. Clocks of today
// count 56.
constexpr Ns kFarthest = (Ns{1} << 62) - 1;

constexpr bool is_drawn(char phase) {
  switch (phase) {
    case 'X':
    case 'B':
    case 'E':
    case 'i':
    case 'I':
    case 's':
    case 't':
    case 'f':
    case 'C':
    case 'b':
    case 'n':
    case 'e': return true;
    default: return false;
  }
}

std::uint64_t flow_id(std::string_view token, const char* limit) {
  if (std::uint64_t digits = 0; parse_digits(token, limit, digits)) return digits;
  if (const auto number = parse_unsigned(token)) return *number;
  const std::string_view text = bare(token);
  if (text.starts_with("0x") || text.starts_with("0X")) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data() + 2, text.data() + text.size(), value, 16);
    if (error == std::errc{} && end == text.data() + text.size()) return value;
  }
  return hash_text(text) | (std::uint64_t{1} << 63);  // text ids do not meet small numbers
}

}  // namespace

std::uint32_t EventParser::text_use(std::string_view t) { return use(text_uses_, tables_.strings.intern(text_of(t)).value); }

std::uint32_t EventParser::name_use() {
  const std::string_view token = fields_[EventKey::name];
  return use(text_uses_, tables_.strings.intern(without_escapes_ ? bare(token) : text_of(token)).value);
}

std::uint32_t EventParser::first_use(Uses& uses, std::uint32_t id) {
  Use& use = uses.of(id);
  use.chunk = chunk_number_;
  if (&uses == &text_uses_) {
    use.position = static_cast<std::uint32_t>(out_.texts.size());
    out_.texts.push_back({tables_.strings[StringId(id)], id});
  } else if (&uses == &category_uses_) {
    use.position = static_cast<std::uint32_t>(out_.categories.size());
    out_.categories.push_back(this->use(text_uses_, id));
  } else {
    use.position = static_cast<std::uint32_t>(out_.lanes.size());
    out_.lanes.push_back({&tables_.lanes()[id], id});
  }
  return use.position;
}

void EventParser::note(ImportIssue kind) {
  out_.report.add(kind, event_offset_, value_text(event_begin_, event_after_).substr(0, kExampleChars));
}

const EventParser::KnownCategory& EventParser::category(std::string_view token) {
  // The dozen categories of a file differ in their length or their first eight characters, the quote among them.
  const std::uint64_t word = token.empty() ? 0 : load_word(token.data(), token.size(), limit());
  const std::size_t mix = (word + token.size()) * 0x9E37'79B9'7F4A'7C15u >> (64 - kKnownBits);
  KnownCategory& known = categories_[mix];
  if (known.text == kUnbound || !same_text(known.token, token)) {
    known.token = token;
    known.text = tables_.strings.intern(text_of(token)).value;
    known.kind = kind_from_category(text_of(token));
    known.chunk = 0;
  }
  if (known.chunk != chunk_number_) {
    known.use = use(category_uses_, known.text);
    known.chunk = chunk_number_;
  }
  return known;
}

std::uint32_t EventParser::lane_use(std::string_view pid, std::string_view tid) {
  const auto word = [&](std::string_view token) { return token.empty() ? 0 : load_word(token.data(), token.size(), limit()); };
  const std::uint64_t pid_word = word(pid), tid_word = word(tid);
  KnownLane& known = lanes_[(pid_word * 31 + tid_word + tid.size()) * 0x9E37'79B9'7F4A'7C15u >> (64 - kKnownBits)];
  const bool is_known = known.id != kUnbound && known.pid_word == pid_word && known.tid_word == tid_word &&
                        known.pid.size() == pid.size() && known.tid.size() == tid.size() &&
                        (pid.size() <= 8 || known.pid == pid) && (tid.size() <= 8 || known.tid == tid);
  if (!is_known) {
    known.pid = pid;
    known.tid = tid;
    known.pid_word = pid_word;
    known.tid_word = tid_word;
    const std::string process(text_of(pid));
    known.id = tables_.lane(process, text_of(tid));
    known.chunk = 0;
  }
  if (known.chunk != chunk_number_) {
    known.use = use(lane_uses_, known.id);
    known.chunk = chunk_number_;
  }
  return known.use;
}

ParsedTime EventParser::time_of(EventKey key) const {
  const std::string_view token = fields_[key];
  return token.empty() ? ParsedTime{} : parse_us(token, limit());
}

void EventParser::put() {
  const EventFields& f = fields_;
  ++out_.events;
  const std::string_view phase_text = bare(f[EventKey::ph]);
  const char phase = phase_text.size() == 1 ? phase_text[0] : '\0';
  ++out_.phases[static_cast<unsigned char>(phase)];
  if (f.duplicate) note(ImportIssue::duplicate_key);
  if (f.non_finite != 0) {
    out_.report.add(ImportIssue::non_finite_number, event_offset_,
                    value_text(event_begin_, event_after_).substr(0, kExampleChars), f.non_finite);
  }
  if (phase == 'M') return put_names();

  if (!is_drawn(phase)) return note(ImportIssue::unknown_phase);
  const ParsedTime ts = time_of(EventKey::ts);
  if (ts.state != NumberState::ok) return note(ImportIssue::no_timestamp);
  if (ts.was_text) note(ImportIssue::number_as_text);
  const bool is_far = ts.ns > kFarthest || ts.ns < -kFarthest;
  const bool is_instant = phase == 'i' || phase == 'I';
  if (is_far && !(is_instant && bare(f[EventKey::name]) == "Record Window End")) return note(ImportIssue::no_timestamp);
  switch (phase) {
    case 'X': return put_slice(ts.ns);
    case 'i':
    case 'I': return put_instant(std::clamp(ts.ns, -kFarthest, kFarthest));
    case 'C': return put_counter(ts.ns);
    case 's':
    case 't':
    case 'f': return put_flow(ts.ns, phase);
    default:
      put_gpu_of_half();
      out_.halves.push_back({ts.ns, flow_id(f[EventKey::id], limit()), event_offset_, f.args.external_id,
                             lane_use(f[EventKey::pid], f[EventKey::tid]), name_use(), category(f[EventKey::cat]).use, phase});
  }
}

// Before the half itself.
void EventParser::put_gpu_of_half() {
  if (!fields_.args.has_gpu) return;
  put_gpu(static_cast<std::uint32_t>(out_.halves.size()));
  out_.half_gpu.push_back(out_.gpu.back());
  out_.gpu.pop_back();
}

void EventParser::put_flow(Ns time, char phase) {
  const EventFields& f = fields_;
  out_.flows.push_back({time, flow_id(f[EventKey::id], limit()), event_offset_, lane_use(f[EventKey::pid], f[EventKey::tid]),
                        category(f[EventKey::cat]).use, name_use(), kUnbound, phase, false,
                        phase == 'f' && bare(f[EventKey::bp]) != "e"});
}

// The ends of arrows that a slice itself has (flow events of version 2): one of its own, joined by bind_id alone.
void EventParser::put_flow_of_slice(Ns begin, std::uint32_t slice) {
  const EventFields& f = fields_;
  const auto says = [&](EventKey key) { return bare(f[key]) == "true" || bare(f[key]) == "1"; };
  const bool in = says(EventKey::flow_in), out = says(EventKey::flow_out);
  if ((!in && !out) || f[EventKey::bind_id].empty()) return;
  const std::uint32_t text = tables_.strings.intern(kFlowOfSlices).value;
  out_.flows.push_back({begin, flow_id(f[EventKey::bind_id], limit()), event_offset_,
                        lane_use(f[EventKey::pid], f[EventKey::tid]), use(category_uses_, text), use(text_uses_, text), slice,
                        in && out ? 't'
                        : in      ? 'f'
                                  : 's',
                        false});
}

void EventParser::put_slice(Ns begin) {
  const EventFields& f = fields_;
  ParsedTime dur = time_of(EventKey::dur);
  if (dur.state != NumberState::ok) {
    note(ImportIssue::missing_duration);
    dur.ns = 0;
  }
  if (dur.was_text) note(ImportIssue::number_as_text);
  if (dur.ns < 0) {
    note(ImportIssue::negative_duration);
    dur.ns = 0;
  }
  Ns end = 0;
  if (__builtin_add_overflow(begin, dur.ns, &end) || end > kFarthest) {
    note(ImportIssue::missing_duration);
    end = begin;
  }
  const auto position = static_cast<std::uint32_t>(out_.slices.size());
  const std::uint32_t name = name_use();
  const KnownCategory& cat = category(f[EventKey::cat]);
  const Kind kind = cat.kind;
  out_.slices.push_back({begin, end, f.args.external_id, name, cat.use, lane_use(f[EventKey::pid], f[EventKey::tid]),
                         static_cast<std::uint32_t>(event_offset_ - out_.base_offset)});
  constexpr std::uint32_t kFlows = EventFields::bit(EventKey::flow_in) | EventFields::bit(EventKey::flow_out);
  if ((f.present & kFlows) != 0) put_flow_of_slice(begin, position);
  if (no_time(begin)) ++out_.at_zero;
  if (is_gpu_work(kind)) {
    if (!f.args.has_gpu || (f.args.gpu.device < 0 && f.args.gpu.stream < 0)) ++out_.bare_work;
    put_gpu(position);
    if (!f.args.collective.empty()) put_collective(position);
    return;
  }
  if (f.args.has_step_number) out_.step_names.push_back(name);
  if (!f.args.has_gpu && !f.args.has_op) return;
  if (kind == Kind::sync) {
    put_gpu(position);
    if (!f.args.collective.empty()) put_collective(position);
  } else if (f.args.has_gpu && f.args.gpu.correlation != 0 && is_call(kind)) {
    out_.calls.push_back({SliceId(position), f.args.gpu.correlation});
  } else if (f.args.has_op && kind == Kind::op) {
    put_op(position);
  } else if (f.args.has_gpu && kind == Kind::other) {  // maybe another producer's: core/load/producers knows at the end
    put_gpu(position);
    ++out_.foreign_gpu;
  }
}

template <class Row>
void EventParser::keep_texts(Row& row) {
  each_arg<ArgPacking::shared>(row, [&]<class Value>(Value& value) {
    if constexpr (std::is_same_v<Value, StringId>)
      if (value) value = StringId(use(text_uses_, value.value));
  });
}

void EventParser::put_gpu(std::uint32_t slice) {
  ArgFields& a = fields_.args;
  GpuRow& row = out_.gpu.emplace_back(a.gpu_row());
  row.slice = SliceId(slice);
  keep_texts(row);
  if (row.graph_id != 0) ++out_.graph_work;
  if (!a.annotated_stream.empty()) row.annotated_stream = StringId(text_use(a.annotated_stream));
  if (a.bytes > 0) row.bytes = static_cast<std::uint64_t>(a.bytes);
}

// What a kernel says of its collective is stored as it is, too: the texts repeat from one to the next.
void EventParser::put_collective(std::uint32_t slice) {
  put_op(slice);
  const ArgFields& a = fields_.args;
  const std::string_view args(a.collective_begin, static_cast<std::size_t>(a.end - a.collective_begin));
  out_.ops.back().collective_args = StringId(use(text_uses_, tables_.strings.intern(args).value));
}

void EventParser::put_op(std::uint32_t slice) {
  const ArgFields& a = fields_.args;
  OpRow& op = out_.ops.emplace_back(a.op);
  op.slice = SliceId(slice);
  keep_texts(op);
  op.collective = a.collective.empty() ? StringId{} : StringId(text_use(a.collective));
}

void EventParser::put_instant(Ns time) {
  const EventFields& f = fields_;
  const std::uint32_t lane = lane_use(f[EventKey::pid], f[EventKey::tid]);
  const bool is_global = bare(f[EventKey::scope]) == "g";
  out_.instants.push_back({time, event_offset_, lane, name_use(), category(f[EventKey::cat]).use, is_global});
  const std::string_view name = bare(f[EventKey::name]);
  const bool out_of_memory = name == "[OutOfMemory]";
  if (name != "[memory]" && !out_of_memory) return;
  const ArgFields& a = f.args;
  MemoryRow row;
  row.time = time;
  row.lane = LaneId(lane);
  row.bytes = a.bytes;
  row.address = a.address;
  row.total_allocated = a.total_allocated;
  row.total_reserved = a.total_reserved;
  row.device_type =
      static_cast<std::int8_t>(std::clamp<std::int64_t>(a.device_type, -1, std::numeric_limits<std::int8_t>::max()));
  row.device = static_cast<std::int16_t>(std::clamp<std::int64_t>(a.device_id, -1, std::numeric_limits<std::int16_t>::max()));
  row.out_of_memory = out_of_memory;
  out_.memory.push_back(row);
}

void EventParser::put_counter(Ns time) {
  const std::uint32_t lane = lane_use(fields_[EventKey::pid], {});
  const std::uint32_t name = name_use();
  for (const auto& [key, value] : fields_.series) {
    if (const auto number = parse_double(value)) {
      const std::uint32_t series = text_use(key);
      out_.counters.push_back({time, *number, lane, name, series});
    }
  }
}

void EventParser::put_names() {
  const EventFields& f = fields_;
  const std::string_view what = bare(f[EventKey::name]);
  const std::string_view pid = f[EventKey::pid];
  const std::string_view tid = f[EventKey::tid];
  const auto number = [&] { return parse_integer(f.args.meta_sort).value_or(0); };
  using What = RawName::What;
  if (what == "process_name") {
    out_.names.push_back({What::process_name, lane_use(pid, {}), text_use(f.args.meta_name), 0});
  } else if (what == "process_labels") {
    out_.names.push_back({What::process_labels, lane_use(pid, {}), text_use(f.args.meta_labels), 0});
  } else if (what == "process_sort_index") {
    out_.names.push_back({What::process_sort_index, lane_use(pid, {}), text_use({}), number()});
  } else if (what == "thread_name") {
    out_.names.push_back({What::thread_name, lane_use(pid, tid), text_use(f.args.meta_name), 0});
  } else if (what == "thread_sort_index") {
    out_.names.push_back({What::thread_sort_index, lane_use(pid, tid), text_use({}), number()});
  }
}

}  // namespace gapscope
