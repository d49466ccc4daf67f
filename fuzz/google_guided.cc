// A program of libFuzzer: `_speedups.c`, sanitized, against Google's parser, in the dialect google-exact. All of it is in
// C and C++, so that coverage guides both sides. An input is one of the target `verdict`: a body, a URL and a crawler.

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <array>
#include <cstdio>
#include <cstdlib>

#include "google.cc"

namespace googlebot {
bool MaybeEscapePattern(const char* pattern, char** escaped);  // robots.cc defines it, for tests
}
extern "C" PyObject* PyInit__speedups(void);

static PyObject *rules_type, *respell;

// path_pattern.respelt_at_google
static PyObject* Respell(PyObject*, PyObject* values) {
  PyObject* found = PyList_New(0);
  for (Py_ssize_t at = 0; at < PyList_Size(values); at++) {
    char* escaped;
    const bool is_new = googlebot::MaybeEscapePattern(PyBytes_AsString(PyList_GetItem(values, at)), &escaped);
    PyObject* text = PyBytes_FromString(escaped);
    PyList_Append(found, text);
    Py_DECREF(text);
    if (is_new) delete[] escaped;
  }
  return found;
}

// As google_answers has it.
static int32_t Ours(PyObject* rules, const std::string& url) {
  const std::string path = googlebot::GetPathParamsQuery(url).c_str();
  PyObject* position = PyObject_CallMethod(rules, "best", "y#", path.data(), static_cast<Py_ssize_t>(path.size()));
  const bool is_found = PyLong_AsLong(position) >= 0;
  PyObject* rule = is_found ? PyObject_CallMethod(rules, "rule", "O", position) : nullptr;
  int allows = 1, line = 0;
  PyObject* value = nullptr;
  if (rule && !PyArg_ParseTuple(rule, "pOi", &allows, &value, &line)) std::abort();
  const int32_t answer = 2 * line + (allows || !PyBytes_Size(value));
  Py_XDECREF(rule);
  Py_DECREF(position);
  return answer;
}

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  static PyMethodDef method = {"respell", Respell, METH_O, nullptr};
  PyImport_AppendInittab("_speedups", PyInit__speedups);
  Py_Initialize();
  rules_type = PyObject_GetAttrString(PyImport_ImportModule("_speedups"), "Rules");
  respell = PyCFunction_New(&method, nullptr);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string input(reinterpret_cast<const char*>(data), size);
  std::array<std::string, 3> parts;  // inputs.parts
  for (size_t at = 0, part = 0; at < size; at++) {
    if (part < 2 && input[at] == '\x1e')
      part++;
    else
      parts[part] += input[at];
  }
  const auto& [body, url, agent] = parts;
  std::string name = agent;
  for (char& octet : name) octet = octet >= 'A' && octet <= 'Z' ? octet | 0x20 : octet;
  PyObject* rules = PyObject_CallFunction(
      rules_type, "y#y#iO", body.data(), static_cast<Py_ssize_t>(body.size()), name.data(),
      static_cast<Py_ssize_t>(name.size()), 0, respell);
  for (const std::string& asked : {url, std::string("/"), std::string("/a"), std::string("/a/index.html")}) {
    const uint64_t end = asked.size();
    int32_t theirs;
    google_answers(body.data(), body.size(), agent.data(), agent.size(), asked.data(), &end, 1, &theirs);
    if (const int32_t ours = Ours(rules, asked); ours != theirs) {
      std::fprintf(stderr, "of %s: %d, at Google %d\n", asked.c_str(), ours, theirs);
      std::abort();
    }
  }
  Py_DECREF(rules);
  return 0;
}
