// A program of libFuzzer: `_speedups.c`, sanitized, against Google's parser, in the dialect google-exact. All of it is in
// C and C++, so that coverage guides both sides. An input is one of the target `verdict`: a body, a URL and a crawler.

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <array>
#include <cstdio>
#include <cstdlib>

#include "google.cc"

extern "C" PyObject* PyInit__speedups(void);

static PyObject *rules_type, *judge;

// A verdict, as google_answers has it.
static PyObject* Judge(PyObject*, PyObject* arguments) {
  int allows, line;
  PyObject* value;
  if (!PyArg_ParseTuple(arguments, "pOi", &allows, &value, &line)) std::abort();
  return PyLong_FromLong(2 * line + (allows || !PyBytes_Size(value)));
}

static int32_t Ours(PyObject* rules, const std::string& url) {
  const std::string path = googlebot::GetPathParamsQuery(url).c_str();
  PyObject* verdict = PyObject_CallMethod(rules, "verdict", "y#", path.data(), static_cast<Py_ssize_t>(path.size()));
  const int32_t answer = PyLong_AsLong(verdict);
  Py_DECREF(verdict);
  return answer;
}

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  static PyMethodDef method = {"judge", Judge, METH_VARARGS, nullptr};
  PyImport_AppendInittab("_speedups", PyInit__speedups);
  Py_Initialize();
  rules_type = PyObject_GetAttrString(PyImport_ImportModule("_speedups"), "Rules");
  judge = PyCFunction_New(&method, nullptr);
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
      rules_type, "y#(y#O)OiOO", body.data(), static_cast<Py_ssize_t>(body.size()), name.data(),
      static_cast<Py_ssize_t>(name.size()), Py_False, Py_False, 1, Py_None, judge);
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
