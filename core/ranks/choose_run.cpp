#include "core/ranks/choose_run.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <filesystem>
#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/ranks/rank_head.h"
#include "core/ranks/read_rank.h"

namespace gapscope {
namespace {

constexpr std::size_t kListed = 8;

std::string name_of(const RankData& r) { return printable(std::filesystem::path(r.file).filename().string()); }

// The file's name without its numbers: alike for the ranks of one run where people name files so.
std::string pattern_of(const RankData& r) {
  std::string out;
  std::string name = std::filesystem::path(r.file).filename().string();
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  std::size_t at = name.rfind("rank");
  if (at == name.npos) return {};
  for (std::size_t i = at; i < name.size() && name[i] != '.'; ++i)
    if (std::isdigit(static_cast<unsigned char>(name[i])) != 0) return name.substr(0, i) + '#';
  return {};
}

// "TP-1-DP-0-PP-2": (2, 0, 1), the way ranks count; empty where the name has no TP.
std::vector<std::int64_t> place_in_mesh(const RankData& r) {
  const std::string name = std::filesystem::path(r.file).filename().string();
  std::vector<std::int64_t> place;
  for (const char* word : {"PP-", "DP-", "EP-", "TP-"}) {
    const std::size_t at = name.rfind(word);
    place.push_back(at == name.npos ? -1 : std::atoll(name.c_str() + at + 3));
  }
  return place.back() < 0 ? std::vector<std::int64_t>{} : place;
}

bool any_double(const std::vector<RankData>& ranks) {
  std::set<std::int64_t> seen;
  return std::any_of(ranks.begin(), ranks.end(), [&](const RankData& r) { return !seen.insert(r.rank).second; });
}

// The one number in which all names differ, by file: "trace_0.json" and "trace_1.json"; empty where there is none such.
std::vector<std::int64_t> numbers_of_names(const std::vector<RankData*>& files) {
  std::vector<std::vector<std::int64_t>> numbers;
  std::set<std::string> patterns;
  for (const RankData* r : files) {
    const std::string name = std::filesystem::path(r->file).filename().string();
    std::string pattern;
    std::vector<std::int64_t>& own = numbers.emplace_back();
    for (std::size_t i = 0; i < name.size(); ++i) {
      if (!is_digit(name[i])) {
        pattern += name[i];
      } else if (i == 0 || !is_digit(name[i - 1])) {
        pattern += '#';
        std::int64_t value = -1;
        std::from_chars(name.data() + i, name.data() + name.size(), value);
        own.push_back(value);
      }
    }
    patterns.insert(pattern);
  }
  std::vector<std::int64_t> out;
  if (files.size() < 2 || patterns.size() != 1) return out;
  for (std::size_t at = 0; at < numbers.front().size(); ++at) {
    std::set<std::int64_t> different;
    for (const auto& own : numbers) different.insert(own[at]);
    if (different.size() == 1) continue;
    const bool is_rank =
        out.empty() && different.size() == files.size() && *different.begin() >= 0 && *different.rbegin() <= kMostRanks;
    if (!is_rank) return {};
    for (const auto& own : numbers) out.push_back(own[at]);
  }
  return out;
}

// Whether two files may be of one run: as long, as many collectives, one world, and at one time where they say when.
bool are_of_one_run(const RankData& a, const RankData& b) {
  const auto alike = [](std::uint64_t x, std::uint64_t y) { return std::max(x, y) <= 2 * std::min(x, y); };
  const auto count = [](const RankData& r) { return r.collectives.size() + r.unnamed; };
  const auto length = [](const RankData& r) { return static_cast<std::uint64_t>(std::max<Ns>(1, r.span.length())); };
  const bool overlap = a.base + a.span.begin < b.base + b.span.end && b.base + b.span.begin < a.base + a.span.end;
  return a.world_size == b.world_size && count(a) > 0 && alike(count(a), count(b)) && alike(length(a), length(b)) &&
         (!a.has_base || !b.has_base || overlap);
}

// "trace_0.json", "profile_1.json", "worker_2.json": the number is the rank where what is inside agrees.
void name_by_numbers(const std::vector<RankData*>& files) {
  std::vector<std::int64_t> numbers = numbers_of_names(files);
  if (numbers.empty()) return;
  const auto [least, most] = std::minmax_element(numbers.begin(), numbers.end());
  const bool from_one = *least == 1 && *most == files.front()->world_size;
  for (std::int64_t& number : numbers) number -= from_one ? 1 : 0;
  for (const RankData* r : files)
    if (r->rank >= 0 || !are_of_one_run(*files.front(), *r)) return;
  for (std::size_t i = 0; i < files.size(); ++i) files[i]->rank = numbers[i];
}

// Where the files do not state ranks their names do; names of a mesh count through it.
void name_ranks(std::vector<RankData>& files, Run& run) {
  std::vector<RankData*> unstated;
  for (RankData& r : files) {
    if (r.rank >= 0) continue;
    r.rank = rank_from_name(r.file);
    if (r.rank < 0) r.rank = rank_of_ascend(r.file);
    unstated.push_back(&r);
  }
  name_by_numbers(unstated);
  std::set<std::int64_t> seen;
  const bool doubles =
      std::any_of(unstated.begin(), unstated.end(), [&](const RankData* r) { return !seen.insert(r->rank).second; });
  const bool mesh = std::all_of(unstated.begin(), unstated.end(), [](const RankData* r) { return !place_in_mesh(*r).empty(); });
  if (doubles && mesh) {
    std::sort(unstated.begin(), unstated.end(),
              [](const RankData* a, const RankData* b) { return place_in_mesh(*a) < place_in_mesh(*b); });
    for (std::size_t i = 0; i < unstated.size(); ++i) unstated[i]->rank = static_cast<std::int64_t>(i);
  }
  std::erase_if(files, [&](const RankData& r) {
    if (r.rank >= 0) return false;
    run.problems.push_back(
        fmt::format("{} does not say which rank it is: neither distributedInfo nor the file's name (rank0, TP-0) states it. It "
                    "is left out.",
                    name_of(r)));
    run.all_used = false;
    return true;
  });
}

Span on_clock(const RankData& r) { return {r.base + r.span.begin, r.base + r.span.end}; }

// Files of one recording: those with one pattern of names, else those that overlap in time.
std::vector<std::vector<RankData>> recordings_in(std::vector<RankData> files) {
  std::map<std::string, std::vector<RankData>> by_pattern;
  for (RankData& r : files) by_pattern[pattern_of(r)].push_back(std::move(r));
  std::vector<std::vector<RankData>> out;
  for (auto& [pattern, ranks] : by_pattern) {
    if (!any_double(ranks)) {
      out.push_back(std::move(ranks));
      continue;
    }
    std::stable_sort(ranks.begin(), ranks.end(),
                     [](const RankData& a, const RankData& b) { return on_clock(a).begin < on_clock(b).begin; });
    Ns until = 0;
    std::vector<std::vector<RankData>> apart;
    for (RankData& r : ranks) {
      if (apart.empty() || on_clock(r).begin > until) apart.emplace_back();
      until = apart.back().empty() ? on_clock(r).end : std::max(until, on_clock(r).end);
      apart.back().push_back(std::move(r));
    }
    for (auto& part : apart) out.push_back(std::move(part));
  }
  return out;
}

std::size_t distinct_ranks(const std::vector<RankData>& ranks) {
  std::set<std::int64_t> seen;
  for (const RankData& r : ranks) seen.insert(r.rank);
  return seen.size();
}

std::vector<RankData> largest_recording(std::vector<RankData> files, Run& run) {
  if (!any_double(files)) return files;
  std::vector<std::vector<RankData>> recordings = recordings_in(std::move(files));
  const auto largest = std::max_element(recordings.begin(), recordings.end(),
                                        [](const auto& a, const auto& b) { return distinct_ranks(a) < distinct_ranks(b); });
  for (auto at = recordings.begin(); at != recordings.end(); ++at) {
    if (at == largest) continue;
    run.all_used = false;
    std::vector<std::string>& files_of = run.others.emplace_back();
    for (const RankData& r : *at) files_of.push_back(r.file);
    run.problems.push_back(fmt::format(
        "{}{} of another recording than {} and left out.", name_of(at->front()),
        at->size() == 1 ? " is" : fmt::format(" and {} more {} are", at->size() - 1, at->size() == 2 ? "file" : "files"),
        name_of(largest->front())));
  }
  return std::move(*largest);
}

void leave_out_other_worlds(std::vector<RankData>& ranks, Run& run) {
  std::map<std::int64_t, std::size_t> votes;
  for (const RankData& r : ranks)
    if (r.world_size > 0) ++votes[r.world_size];
  if (votes.empty()) return;
  run.world_size =
      std::max_element(votes.begin(), votes.end(), [](const auto& a, const auto& b) { return a.second < b.second; })->first;
  std::erase_if(ranks, [&](const RankData& r) {
    if (r.world_size == 0 || r.world_size == run.world_size) return false;
    run.all_used = false;
    run.problems.push_back(fmt::format("{} belongs to a run of {} ranks, the others to one of {}: it is left out.", name_of(r),
                                       r.world_size, run.world_size));
    return true;
  });
}

void leave_out_doubles(std::vector<RankData>& ranks, Run& run) {
  std::map<std::int64_t, std::string> first_file;
  std::erase_if(ranks, [&](const RankData& r) {
    const auto [at, is_new] = first_file.try_emplace(r.rank, r.file);
    if (is_new) return false;
    run.all_used = false;
    const auto named = [&](const std::string& file) { return printable(std::filesystem::path(file).filename().string()); };
    const bool alike = named(at->second) == named(r.file);
    run.problems.push_back(at->second == r.file
                               ? fmt::format("The file of rank {} is named twice ({}): it is used once.", r.rank, name_of(r))
                               : fmt::format("Rank {} is there twice: {} is used, {} is left out.", r.rank,
                                             alike ? printable(at->second) : named(at->second),
                                             alike ? printable(r.file) : name_of(r)));
    return true;
  });
}

void name_missing(Run& run) {
  std::set<std::int64_t> there;
  for (const RankData& r : run.ranks) there.insert(r.rank);
  for (std::int64_t rank = 0; rank < std::min<std::int64_t>(run.world_size, 1 << 20); ++rank)
    if (!there.contains(rank)) run.missing.push_back(rank);
  if (run.missing.empty() || run.ranks.empty()) return;
  run.all_used = false;
  run.problems.push_back(
      fmt::format("Of {} ranks {} {} missing: {}. Waiting for {} cannot be separated from waiting for others.", run.world_size,
                  run.missing.size(), run.missing.size() == 1 ? "is" : "are", list_of(run.missing),
                  run.missing.size() == 1 ? "it" : "them"));
}

}  // namespace

std::string list_of(const std::vector<std::int64_t>& numbers) {
  std::string out;
  const std::size_t listed = numbers.size() <= kListed + 1 ? numbers.size() : kListed;
  for (std::size_t i = 0; i < listed; ++i)
    out += (i == 0 ? "" : i + 1 == numbers.size() ? " and " : ", ") + std::to_string(numbers[i]);
  if (listed < numbers.size()) out += fmt::format(" and {} more", numbers.size() - listed);
  return out;
}

void judge_ranks(Run& run) {
  for (const RankData& r : run.ranks) {
    if (r.cut_off) {
      run.all_used = false;
      run.problems.push_back(
          fmt::format("The file of rank {} is cut off ({}): what came after its end is missing.", r.rank, name_of(r)));
    }
    if (r.collectives.empty() && r.unnamed > 0)
      run.problems.push_back(fmt::format(
          "Rank {}: none of its {} communication kernels names its collective ({}), so waiting and transfer cannot be "
          "separated. PyTorch's NCCL backend records it from version 2.2 on.",
          r.rank, format_count(static_cast<std::int64_t>(r.unnamed)), elide_middle(printable(r.unnamed_example), 40)));
    else if (r.collectives.empty())
      run.problems.push_back(
          fmt::format("Rank {} has no communication kernel in {}its recording.", r.rank, r.cut_off ? "what is there of " : ""));
    if (!r.holds_ranks.empty())
      run.problems.push_back(fmt::format("{} holds {} ranks in one file, which count as rank {}. Compare them alone.",
                                         name_of(r), r.holds_ranks.size(), r.rank));
    if (r.devices > 1)
      run.problems.push_back(
          fmt::format("Rank {} worked on {} GPUs; only GPU {} is accounted for.", r.rank, r.devices, r.device));
  }
}

Run choose_run(std::vector<RankData> files, const std::vector<std::string>& errors) {
  Run run;
  run.problems = errors;
  run.all_used = errors.empty();
  std::stable_sort(files.begin(), files.end(), [](const RankData& a, const RankData& b) { return a.file < b.file; });
  name_ranks(files, run);
  std::vector<RankData> ranks = largest_recording(std::move(files), run);
  leave_out_other_worlds(ranks, run);
  leave_out_doubles(ranks, run);
  std::stable_sort(ranks.begin(), ranks.end(), [](const RankData& a, const RankData& b) { return a.rank < b.rank; });
  run.ranks = std::move(ranks);
  name_missing(run);
  return run;
}

}  // namespace gapscope
