// Google's parser behind two functions of C. `google.py` builds this with robots.cc, and asks.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "robots.h"

namespace googlebot {
std::string GetPathParamsQuery(const std::string& url);  // robots.cc defines it, for tests
}

// Twice the matching line, and 1 if allowed, for each of the URLs, of which ends says where they end in urls.
extern "C" void google_answers(const char* body, size_t size, const char* agent, size_t length, const char* urls,
                               const uint64_t* ends, size_t count, int32_t* answers) {
  const std::vector<std::string> agents(1, std::string(agent, length));
  googlebot::RobotsMatcher matcher;
  for (size_t at = 0, start = 0; at < count; start = ends[at++]) {
    const std::string url(urls + start, ends[at] - start);
    const bool allowed = matcher.AllowedByRobots(absl::string_view(body, size), &agents, url);
    answers[at] = 2 * matcher.matching_line() + allowed;
  }
}

// Puts the path of a URL, up to a NUL, where there are two octets more than it has, and says how many it takes.
extern "C" size_t google_path(const char* url, size_t size, char* path) {
  const std::string found = googlebot::GetPathParamsQuery(std::string(url, size));
  return std::string(found.c_str()).copy(path, size + 2);
}
