/* The contract between the harness and a plugin: everything that is compared across the boundary, in C.
 *
 * A plugin is an ELF shared library that
 *   - carries the section ".labrig.manifest": text, read before any plugin code runs (format below);
 *   - exports exactly one symbol, `labrig_plugin`, a labrig_plugin_v1.
 *
 * The structs are frozen. What is new comes under a new id through `extension`, never by a new field.
 * C++ objects cross the boundary (the pointers from `create`), so both sides must have been built alike: that is what
 * the build tag says, and a mismatch is refused before loading.
 *
 * Manifest: lines "key=value", ended by a newline, the whole ended by a NUL:
 *   labrig-plugin=1            always first
 *   kind=submission            or lab-judge, lab-call
 *   lab=transfer-cost          the lab's id
 *   abi=1.0                    LABRIG_ABI_MAJOR.LABRIG_ABI_MINOR
 *   build=<build tag>          must be equal: architecture, C++ ABI, standard library, sanitizers, public headers
 *   compiler=<text>            shown, not compared
 */
#ifndef LABRIG_ABI_H
#define LABRIG_ABI_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define LABRIG_ABI_MAJOR 1
#define LABRIG_ABI_MINOR 0
#define LABRIG_ENTRY_SYMBOL "labrig_plugin"
#define LABRIG_MANIFEST_SECTION ".labrig.manifest"
#define LABRIG_MAGIC "LABRIG\r\n" /* 8 bytes, no terminator: text-mode damage shows */

enum labrig_kind { LABRIG_SUBMISSION_KIND = 1, LABRIG_LAB_JUDGE_KIND = 2, LABRIG_LAB_CALL_KIND = 3 };

typedef struct labrig_plugin_v1 {
  char magic[8];         /* LABRIG_MAGIC */
  uint16_t abi_major;    /* must be equal to the host's */
  uint16_t abi_minor;    /* must not be above the host's */
  uint32_t kind;         /* enum labrig_kind */
  const char* lab_id;    /* kebab-case, static */
  const char* build_tag; /* as in the manifest, static */

  /* Called once after loading, on the loading thread, before anything else. 0: ready; else the plugin is refused
   * with describe()'s text as the reason. May be null. */
  int (*init)(void);

  /* One line for a person, static or owned by the plugin. Callable at any time after loading. May be null. */
  const char* (*describe)(void);

  /* A new object: for a submission the lab's interface type, for lab modules labrig::lab::JudgeModule or CallModule.
   * Null: refused. May throw C++ exceptions; they are the plugin's failure. */
  void* (*create)(void);

  /* Destroys what create returned, on any thread, once. Must not throw. */
  void (*destroy)(void* object);

  /* Optional features by id ("labrig.example/1"); null when unknown. May be null itself. */
  const void* (*extension)(const char* id);
} labrig_plugin_v1;

#ifdef __cplusplus
}
#endif
#endif
