#pragma once
// The operator behind a piece of GPU work as rules speak of it: the one that launched it, or, of a replayed graph that is
// joined with its capture (core/analyze/captured), the one that captured it there, maybe in another recording.
#include <cstddef>
#include <map>
#include <string_view>
#include <utility>

#include "core/analyze/captured/captured_work.h"
#include "core/diagnose/rule.h"

namespace gapscope {

struct WorkOrigin {
  OperatorCall by;
  SliceId replay;  // of joined work the launch of its graph

  explicit operator bool() const { return by.op.valid(); }
  std::string_view name() const { return by.op ? by.trace->name(by.op) : std::string_view{}; }
  bool is_operator() const { return by.op && by.trace->kind(by.op) == Kind::op; }
  // What the file states of its arguments; empty where it does not.
  std::string_view input_dims() const { return text(&OpRow::input_dims); }
  std::string_view input_types() const { return text(&OpRow::input_types); }
  // Of one call, which of a captured one means: of one replay.
  friend bool operator==(const WorkOrigin& a, const WorkOrigin& b) {
    return a.by.trace == b.by.trace && a.by.op == b.by.op && a.replay == b.replay;
  }

 private:
  std::string_view text(StringId OpRow::*member) const;
};

WorkOrigin origin_of(const Facts& facts, const GpuOp& op);
// The nearest operator aten::* around its operator; empty where there is none.
std::string_view aten_around(const Facts& facts, const WorkOrigin& origin);

// The name of a span of code that torch.compile made.
bool is_compiled_code(std::string_view name);
// Whether origins lie in code that torch.compile made; each captured operator is looked at once.
class CompiledOrigins {
 public:
  explicit CompiledOrigins(const Facts& facts) : facts_(facts) {}
  bool hold(const WorkOrigin& origin);

 private:
  const Facts& facts_;
  std::map<std::pair<const Trace*, SliceId>, bool> captured_;
};

// The finding names the operators of `all` pieces of GPU work, and of these `joined` are known from a capture alone: it says
// so.
void mark_joined(Finding& finding, std::size_t joined, std::size_t all);

}  // namespace gapscope
