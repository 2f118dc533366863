// Two sequences side by side: windows that begin apart, clocks that are far off, pieces that are missing.
#include <random>

#include <doctest/doctest.h>

#include "core/ranks/sequence_fit.h"

using namespace gapscope;

namespace {

using Pairs = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

// `steps` steps of the same few collectives, whose lengths vary as they do in life.
std::vector<SequenceItem> steps_of(std::size_t steps, const std::vector<std::uint32_t>& keys) {
  std::mt19937 random(7);
  std::vector<SequenceItem> out;
  Ns now = 0;
  for (std::size_t s = 0; s < steps; ++s)
    for (const std::uint32_t key : keys) out.push_back({key, -1, now += 300'000 + static_cast<Ns>(random() % 200'000), true});
  return out;
}

std::vector<SequenceItem> part(const std::vector<SequenceItem>& all, std::size_t first, std::size_t last, Ns clock) {
  std::mt19937 random(9);
  std::vector<SequenceItem> out(all.begin() + static_cast<std::ptrdiff_t>(first),
                                all.begin() + static_cast<std::ptrdiff_t>(last));
  for (SequenceItem& item : out) item.end += clock + static_cast<Ns>(random() % 4000);
  return out;
}

Pairs shifted(std::uint32_t a, std::uint32_t b, std::uint32_t count) {
  Pairs out;
  for (std::uint32_t i = 0; i < count; ++i) out.emplace_back(a + i, b + i);
  return out;
}

}  // namespace

TEST_CASE("windows that begin a whole step apart are laid side by side rightly, however far the clocks are off") {
  const auto all = steps_of(20, {1, 1, 1, 2});
  for (const Ns clock : {Ns{0}, 777 * kNsPerUs, -3 * kNsPerMs, 3600 * kNsPerS}) {
    CAPTURE(clock);
    CHECK(fit_sequences(part(all, 0, 60, 0), part(all, 4, 64, clock)).pairs == shifted(4, 0, 56));
    CHECK(fit_sequences(part(all, 8, 80, 0), part(all, 0, 72, clock)).pairs == shifted(0, 8, 64));
    CHECK(fit_sequences(part(all, 16, 80, 0), part(all, 0, 80, clock)).pairs == shifted(0, 16, 64));
  }
}

TEST_CASE("what one side lost is left without a partner, also among alike ones") {
  for (const std::vector<std::uint32_t>& keys :
       {std::vector<std::uint32_t>{1, 2, 3, 4, 5}, std::vector<std::uint32_t>{1, 1, 1, 1, 1}}) {
    const auto all = steps_of(10, keys);
    auto less = part(all, 0, 50, 5'000'000);
    less.erase(less.begin() + 23, less.begin() + 25);
    Pairs expected = shifted(0, 0, 23);
    for (const auto& pair : shifted(25, 23, 25)) expected.push_back(pair);
    CHECK(fit_sequences(all, less).pairs == expected);
    const SequenceFit fit = fit_sequences(all, less);
    CHECK(fit.other_order + fit.different == 0);
  }
}

TEST_CASE("another order and other collectives are reported") {
  const auto all = steps_of(8, {1, 2, 3, 4, 5});
  auto swapped = part(all, 0, 40, 0);
  std::swap(swapped[21].key, swapped[22].key);
  const SequenceFit order = fit_sequences(all, swapped);
  CHECK(order.other_order == 1);
  CHECK(order.different == 0);
  CHECK(order.first_trouble == std::pair<std::uint32_t, std::uint32_t>(21, 21));
  CHECK(order.pairs.size() == 38);
  auto other = part(all, 0, 40, 0);
  other[30].key = 9;
  const SequenceFit different = fit_sequences(all, other);
  CHECK(different.other_order == 0);
  CHECK(different.different == 1);
  CHECK(different.pairs.size() == 39);
}

TEST_CASE("two that alternate and change places are in another order, once and all along") {
  const auto all = steps_of(20, {1, 2});
  for (const Ns clock : {Ns{0}, 3 * kNsPerMs}) {
    CAPTURE(clock);
    auto once = part(all, 0, 40, clock);
    std::swap(once[16].key, once[17].key);
    const SequenceFit fit = fit_sequences(all, once);
    CHECK(fit.other_order == 1);
    CHECK(fit.different == 0);
    CHECK(fit.first_is_order);
    CHECK(fit.first_trouble == std::pair<std::uint32_t, std::uint32_t>(16, 16));
    CHECK(fit.pairs.size() == 38);
    auto always = part(all, 0, 40, clock);
    for (std::size_t i = 0; i + 1 < always.size(); i += 2) std::swap(always[i].key, always[i + 1].key);
    const SequenceFit other = fit_sequences(all, always);
    CHECK(other.other_order == 20);
    CHECK(other.different == 0);
    CHECK(other.pairs.empty());
  }
  auto less = part(all, 1, 40, 0);  // one is missing at the begin: no other order
  CHECK(fit_sequences(all, less).other_order == 0);
  CHECK(fit_sequences(all, less).pairs == shifted(1, 0, 39));
  less.erase(less.begin() + 20);
  CHECK(fit_sequences(all, less).other_order == 0);
  CHECK(fit_sequences(all, less).pairs.size() == 38);
}

TEST_CASE("numbers count where both sides have them") {
  auto a = steps_of(4, {1, 2});
  for (std::size_t i = 0; i < a.size(); ++i) a[i].seq = static_cast<std::int64_t>(i);
  auto b = part(a, 3, 8, kNsPerS);
  CHECK(fit_sequences(a, b).pairs == shifted(3, 0, 5));
  b[2].key = 7;
  const SequenceFit fit = fit_sequences(a, b);
  CHECK(fit.pairs.size() == 4);
  CHECK(fit.different == 1);
}

TEST_CASE("nothing and little fit as far as they do") {
  CHECK(fit_sequences({}, {}).pairs.empty());
  const auto one = steps_of(1, {1});
  CHECK(fit_sequences(one, one).pairs == shifted(0, 0, 1));
  CHECK(fit_sequences(one, {}).pairs.empty());
  CHECK(fit_sequences(one, steps_of(1, {2})).pairs.empty());
}
