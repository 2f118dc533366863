#include "app/mpi/mpi_reader.h"

#include <algorithm>
#include <filesystem>
#include <numeric>

#include <mpi.h>

#include "core/ranks/rank_bytes.h"

namespace gapscope {
namespace {

enum class Order : int { read, answer, end };

constexpr std::size_t kMostAtOnce = std::size_t{1} << 30;  // bytes a message; MPI counts in int
constexpr int kTag = 20;

int process_count() {
  int n = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  return n;
}

void order_all(Order order) {
  int word = static_cast<int>(order);
  MPI_Bcast(&word, 1, MPI_INT, 0, MPI_COMM_WORLD);
}

void send_bytes(const std::string& bytes, int to) {
  std::uint64_t size = bytes.size();
  MPI_Send(&size, 1, MPI_UINT64_T, to, kTag, MPI_COMM_WORLD);
  for (std::size_t at = 0; at < bytes.size(); at += kMostAtOnce)
    MPI_Send(bytes.data() + at, static_cast<int>(std::min(kMostAtOnce, bytes.size() - at)), MPI_BYTE, to, kTag, MPI_COMM_WORLD);
}

std::string receive_bytes(int from) {
  std::uint64_t size = 0;
  MPI_Recv(&size, 1, MPI_UINT64_T, from, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  std::string bytes(size, '\0');
  for (std::size_t at = 0; at < bytes.size(); at += kMostAtOnce)
    MPI_Recv(bytes.data() + at, static_cast<int>(std::min(kMostAtOnce, bytes.size() - at)), MPI_BYTE, from, kTag,
             MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return bytes;
}

// Files to read travel as questions without times.
std::vector<std::string> files_of(const std::vector<DoingQuestion>& questions) {
  std::vector<std::string> files;
  for (const DoingQuestion& q : questions) files.push_back(q.file);
  return files;
}

template <class T>
std::vector<T> those_of(int process, const std::vector<T>& all, const std::vector<int>& process_of) {
  std::vector<T> out;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (process_of[i] == process) out.push_back(all[i]);
  return out;
}

template <class T>
void put_back(int process, std::vector<T> part, const std::vector<int>& process_of, std::vector<T>& all) {
  std::size_t next = 0;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (process_of[i] == process && next < part.size()) all[i] = std::move(part[next++]);
}

}  // namespace

std::vector<int> deal_by_size(const std::vector<std::uint64_t>& sizes, int processes) {
  std::vector<std::size_t> order(sizes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return sizes[a] > sizes[b]; });
  std::vector<std::uint64_t> load(static_cast<std::size_t>(std::max(1, processes)));
  std::vector<int> out(sizes.size());
  for (const std::size_t i : order) {
    const auto least = std::min_element(load.begin(), load.end());
    out[i] = static_cast<int>(least - load.begin());
    *least += std::max<std::uint64_t>(1, sizes[i]);
  }
  return out;
}

MpiReader::~MpiReader() { order_all(Order::end); }

std::vector<ReadFile> MpiReader::read(const std::vector<std::string>& files) {
  std::vector<std::uint64_t> sizes;
  for (const std::string& file : files) {
    std::error_code error;
    const std::uintmax_t size = std::filesystem::file_size(file, error);
    sizes.push_back(error ? 0 : size);
  }
  files_ = files;
  reader_of_ = deal_by_size(sizes, process_count());
  order_all(Order::read);
  for (int p = 1; p < process_count(); ++p) {
    std::vector<DoingQuestion> questions;
    for (const std::string& file : those_of(p, files, reader_of_)) questions.push_back({file, {}});
    send_bytes(to_bytes(questions), p);
  }
  std::vector<ReadFile> out(files.size());
  put_back(0, local_.read(those_of(0, files, reader_of_)), reader_of_, out);
  for (int p = 1; p < process_count(); ++p)
    put_back(p, files_from(receive_bytes(p)).value_or(std::vector<ReadFile>{}), reader_of_, out);
  return out;
}

std::vector<DoingAnswer> MpiReader::answer(const std::vector<DoingQuestion>& questions) {
  std::vector<int> process_of;
  for (const DoingQuestion& q : questions) {
    const auto at = std::find(files_.begin(), files_.end(), q.file);
    process_of.push_back(at == files_.end() ? 0 : reader_of_[static_cast<std::size_t>(at - files_.begin())]);
  }
  order_all(Order::answer);
  for (int p = 1; p < process_count(); ++p) send_bytes(to_bytes(those_of(p, questions, process_of)), p);
  std::vector<DoingAnswer> out(questions.size());
  put_back(0, local_.answer(those_of(0, questions, process_of)), process_of, out);
  for (int p = 1; p < process_count(); ++p)
    put_back(p, answers_from(receive_bytes(p)).value_or(std::vector<DoingAnswer>{}), process_of, out);
  return out;
}

void serve_mpi_reader(const Stated& stated) {
  LocalReader local({.stated = stated});
  for (;;) {
    int word = 0;
    MPI_Bcast(&word, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (word == static_cast<int>(Order::end)) return;
    const std::vector<DoingQuestion> questions = questions_from(receive_bytes(0)).value_or(std::vector<DoingQuestion>{});
    send_bytes(
        word == static_cast<int>(Order::read) ? to_bytes(local.read(files_of(questions))) : to_bytes(local.answer(questions)),
        0);
  }
}

}  // namespace gapscope
