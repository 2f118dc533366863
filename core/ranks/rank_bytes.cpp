#include "core/ranks/rank_bytes.h"

#include <cstring>
#include <memory>
#include <type_traits>

namespace gapscope {
namespace {

// One description of each type serves both ways: `put(archive, value)` names its members in order.
class Out {
 public:
  static constexpr bool reads = false;
  std::string bytes;

  template <class T>
  requires std::is_trivially_copyable_v<T>
  void plain(const T& value) { bytes.append(reinterpret_cast<const char*>(&value), sizeof value); }
  template <class T>
  void block(const T* data, std::size_t n) {
    bytes.append(reinterpret_cast<const char*>(data), n * sizeof(T));
  }
};

class In {
 public:
  static constexpr bool reads = true;
  explicit In(std::string_view bytes) : rest_(bytes) {}
  bool ok = true;

  template <class T>
  requires std::is_trivially_copyable_v<T>
  void plain(T& value) { block(&value, 1); }
  template <class T>
  void block(T* data, std::size_t n) {
    if (!ok || n > rest_.size() / sizeof(T)) {
      ok = false;
      return;
    }
    if (n > 0) std::memcpy(static_cast<void*>(data), rest_.data(), n * sizeof(T));
    rest_.remove_prefix(n * sizeof(T));
  }
  // A size that can be true: `least` bytes an element.
  bool plausible(std::uint64_t n, std::size_t least) { return ok = ok && n <= rest_.size() / least; }
  bool finished() const { return ok && rest_.empty(); }

 private:
  std::string_view rest_;
};

template <class Archive, class T>
requires std::is_trivially_copyable_v<std::remove_const_t<T>>
void put(Archive& a, T& value) { a.plain(value); }

template <class Archive, class Elements>
bool put_size(Archive& a, Elements& elements, std::size_t least) {
  std::uint64_t n = elements.size();
  a.plain(n);
  if constexpr (Archive::reads) {
    if (!a.plausible(n, least)) return false;
    elements.resize(n);
  }
  return true;
}

template <class Archive>
void put(Archive& a, std::string& text) {
  if (put_size(a, text, 1)) a.block(text.data(), text.size());
}

template <class Archive>
void put(Archive& a, HostEvents& e) {
  put(a, e.count);
  put(a, e.time);
  put(a, e.first);
}
template <class Archive>
void put(Archive& a, RankStep& s) {
  put(a, s.name);
  put(a, s.span);
  put(a, s.exposed_communication);
}
template <class Archive>
void put(Archive& a, CollectiveWhat& w) {
  put(a, w.type);
  for (std::string* text : {&w.name, &w.dtype, &w.group, &w.description, &w.members, &w.in_split, &w.out_split, &w.kernel})
    put(a, *text);
  for (std::int64_t* number : {&w.in_elements, &w.out_elements, &w.group_size, &w.peer}) put(a, *number);
  put(a, w.stream);
}
template <class Archive>
void put(Archive& a, std::shared_ptr<const CollectiveWhat>& w) {
  if constexpr (Archive::reads) {
    CollectiveWhat read;
    put(a, read);
    w = std::make_shared<const CollectiveWhat>(std::move(read));
  } else {
    put(a, const_cast<CollectiveWhat&>(*w));  // an archive that writes changes nothing
  }
}
template <class Archive>
void put(Archive& a, Doing& d) {
  put(a, d.name);
  put(a, d.time);
}

template <class Archive, class T>
void put(Archive& a, std::vector<T>& elements);
template <class Archive>
void put(Archive& a, DoingAnswer& answer) {
  put(a, answer.account);
  put(a, answer.doing);
}

template <class Archive, class T>
void put(Archive& a, std::vector<T>& elements) {
  if constexpr (std::is_trivially_copyable_v<T>) {
    if (put_size(a, elements, sizeof(T))) a.block(elements.data(), elements.size());
  } else {
    if (!put_size(a, elements, 1)) return;
    for (T& element : elements) put(a, element);
  }
}

// Without its change: a run that is read by many processes is replayed with none of its own.
template <class Archive>
void put(Archive& a, std::shared_ptr<const RankReplay>& replay) {
  std::uint8_t is_there = replay != nullptr;
  put(a, is_there);
  if (is_there == 0) return;
  auto model = Archive::reads ? std::make_shared<ReplayModel>() : std::const_pointer_cast<ReplayModel>(replay->model);
  auto parts = Archive::reads ? std::make_shared<RankReplay>() : std::const_pointer_cast<RankReplay>(replay);
  model->each_member([&](auto& member) { put(a, member); });
  put(a, parts->op_of);
  put(a, parts->after);
  put(a, parts->step_names);
  parts->model = model;
  replay = parts;
}

template <class Archive>
void put(Archive& a, RankData& r) {
  put(a, r.file);
  put(a, r.rank);
  put(a, r.world_size);
  put(a, r.holds_ranks);
  put(a, r.base);
  put(a, r.has_base);
  put(a, r.span);
  put(a, r.cut_off);
  put(a, r.file_bytes);
  put(a, r.device);
  put(a, r.devices);
  put(a, r.host_gpus);
  put(a, r.account);
  put(a, r.window);
  put(a, r.exposed_communication.bytes);
  put(a, r.steps);
  put(a, r.whats);
  put(a, r.collectives);
  put(a, r.seqs);
  put(a, r.file_order);
  put(a, r.by_order);
  put(a, r.unnamed);
  put(a, r.unnamed_time);
  put(a, r.unnamed_example);
  put(a, r.communication_time);
  put(a, r.compute_work);
  put(a, r.compiling);
  put(a, r.collecting);
  put(a, r.replay);
}
template <class Archive>
void put(Archive& a, ReadFile& f) {
  put(a, f.error);
  put(a, f.data);
}
template <class Archive>
void put(Archive& a, DoingQuestion& q) {
  put(a, q.file);
  put(a, q.spans);
}

template <class T>
std::string bytes_of(const T& value) {
  Out out;
  put(out, const_cast<T&>(value));  // an archive that writes changes nothing
  return std::move(out.bytes);
}

template <class T>
std::optional<T> value_from(std::string_view bytes) {
  In in(bytes);
  T value;
  put(in, value);
  if (!in.finished()) return std::nullopt;
  return value;
}

}  // namespace

std::string to_bytes(const std::vector<ReadFile>& files) { return bytes_of(files); }
std::string to_bytes(const std::vector<DoingQuestion>& questions) { return bytes_of(questions); }
std::string to_bytes(const std::vector<DoingAnswer>& answers) { return bytes_of(answers); }

std::optional<std::vector<ReadFile>> files_from(std::string_view bytes) { return value_from<std::vector<ReadFile>>(bytes); }
std::optional<std::vector<DoingQuestion>> questions_from(std::string_view bytes) {
  return value_from<std::vector<DoingQuestion>>(bytes);
}
std::optional<std::vector<DoingAnswer>> answers_from(std::string_view bytes) {
  return value_from<std::vector<DoingAnswer>>(bytes);
}

}  // namespace gapscope
