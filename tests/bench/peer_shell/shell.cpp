// Perfetto's trace processor asked as trace_processor_shell is: [-q QUERY_FILE] FILE, or --version. It is the one of Chromium's
// tests, libtest_trace_processor.so in Debian's chromium-shell, which has no header: declared here is what
// base/test/test_trace_processor_impl.h declares, with the strings and vectors of libc++ (ABI 1), whichever x86-64
// compiler takes this. Beyond the shell it copies the file once as a whole (COPY=1 prints the time that this takes alone).
#include <cctype>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef __x86_64__
#error "Answers are taken as x86-64 gives them: by a pointer before the other arguments."
#endif

namespace {

template <class T>
struct Vector {
  const T *first, *last, *end_of_room;
};
struct String {
  // Long: room with the lowest bit set, size, text. Short: twice the size in the first byte, then the text.
  std::size_t words[3];
  bool is_long() const { return words[0] & 1; }
  std::string text() const {
    const char* const bytes = reinterpret_cast<const char*>(words);
    if (is_long()) return {reinterpret_cast<const char*>(words[2]), words[1]};
    return {bytes + 1, static_cast<unsigned char>(bytes[0]) / std::size_t{2}};
  }
};
String lent(const std::string& text) {
  return {{(text.size() + 1) | 1, text.size(), reinterpret_cast<std::size_t>(text.c_str())}};
}

struct Rows {
  Vector<Vector<String>> rows;  // the first names the columns
  String error;
};
struct TraceProcessor {
  alignas(16) char bytes[4096] = {};  // more than it needs
};
// absl::Status: a word, which is 1 where all is well.
struct Status {
  std::size_t word = 0;
};

extern "C" {
void construct(TraceProcessor*) asm("_ZN4base4test22TestTraceProcessorImplC1Ev");
void parse(Status* out, TraceProcessor*,
           const Vector<char>*) asm("_ZN4base4test22TestTraceProcessorImpl10ParseTraceERKNSt3__16vectorIcNS2_9allocatorIcEEEE");
void execute(Rows* out, const TraceProcessor*, const String*) asm(
    "_ZNK4base4test22TestTraceProcessorImpl12ExecuteQueryERKNSt3__112basic_stringIcNS2_11char_traitsIcEENS2_9allocatorIcEEEE");
}

[[noreturn]] void fail(const char* what) {
  std::perror(what);
  std::exit(1);
}

// Never given back: it ends with the process.
Vector<char> contents_of(const char* path) {
  const int file = ::open(path, O_RDONLY);
  struct stat about = {};
  if (file < 0 || ::fstat(file, &about) != 0) fail(path);
  const auto size = static_cast<std::size_t>(about.st_size);
  void* const at = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, file, 0);
  if (at == MAP_FAILED) fail(path);
  const char* const first = static_cast<const char*>(at);
  return {first, first + size, first + size};
}

void print_time_of_copy(const Vector<char>& text) {
  const auto start = std::chrono::steady_clock::now();
  const auto size = static_cast<std::size_t>(text.last - text.first);
  char* const copy = static_cast<char*>(std::malloc(size));
  if (copy == nullptr) fail("copy");
  std::memcpy(copy, text.first, size);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  std::printf("%zu bytes copied in %.3f s, the last is %d\n", size, seconds, copy[size - 1]);
}

std::string query_in(const char* path) {
  std::ifstream in(path);
  std::string text{std::istreambuf_iterator<char>(in), {}};
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())) != 0) text.pop_back();
  return text;
}

bool print(const Rows& answer) {
  if (const std::string error = answer.error.text(); !error.empty()) return std::fprintf(stderr, "%s\n", error.c_str()), false;
  for (const Vector<String>* row = answer.rows.first; row != answer.rows.last; ++row)
    for (const String* cell = row->first; cell != row->last; ++cell)
      std::printf("%s%c", cell->text().c_str(), cell + 1 == row->last ? '\n' : ',');
  return true;
}

}  // namespace

int main(int count, char** words) {
  const char *query = nullptr, *file = nullptr;
  for (int i = 1; i < count; ++i) {
    if (std::strcmp(words[i], "--version") == 0) return std::puts("Perfetto's trace processor of " PEER_PACKAGE) < 0;
    if (std::strcmp(words[i], "-q") == 0 && i + 1 < count)
      query = words[++i];
    else
      file = words[i];
  }
  if (file == nullptr) return std::fputs("which file?\n", stderr), 2;
  const Vector<char> text = contents_of(file);
  if (std::getenv("COPY") != nullptr) return print_time_of_copy(text), 0;
  static TraceProcessor processor;
  construct(&processor);
  Status status;
  parse(&status, &processor, &text);
  if (status.word != 1) return std::fprintf(stderr, "%s: not read\n", file), 1;
  bool answered = true;
  if (query != nullptr) {
    const std::string statement = query_in(query);
    const String lent_statement = lent(statement);
    static Rows answer;
    execute(&answer, &processor, &lent_statement);
    answered = print(answer);
  }
  std::fflush(stdout);
  _exit(answered ? 0 : 1);  // as the shell does: nothing is freed
}
