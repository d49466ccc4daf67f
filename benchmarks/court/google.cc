// Google's parser: `g++ -std=c++17 -I SOURCE google.cc SOURCE/robots.cc $(pkg-config --cflags --libs absl_strings)`.
#include <fstream>
#include <iostream>
#include <sstream>

#include "robots.h"

int main() {
  for (std::string path, agent, url;
       std::getline(std::cin, path, '\t') && std::getline(std::cin, agent, '\t') && std::getline(std::cin, url);) {
    std::stringstream body;
    body << std::ifstream(path, std::ios::binary).rdbuf();
    googlebot::RobotsMatcher matcher;
    const bool allowed = matcher.OneAgentAllowedByRobots(body.str(), agent, url);
    std::cout << (allowed ? "allowed " : "disallowed ") << matcher.matching_line() << std::endl;
  }
}
