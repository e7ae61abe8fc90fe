import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const root = join(import.meta.dirname, '..')

/** Where the vocabulary holds already. The rest of `src` follows folder by folder. */
const held = [
  ...['auth', 'endpoints', 'http', 'rate-limit', 'recordings'].map((name) => `src/api/${name}`),
  ...['call', 'client', 'errors', 'index', 'listings', 'response'].map((name) => `src/api/${name}.ts`),
  'src/questions',
  'src/app',
  'src/base',
  'src/cli',
  'src/db',
  'src/main.ts',
  'src/monitoring',
  'src/sandbox',
  'scripts',
  'test/support',
  'test/end-to-end/faults',
  'test/end-to-end/fuzz',
  'test/end-to-end/unattended/bad-day',
  'test/end-to-end/unattended/month',
  'docs',
  'README.md',
  'SECURITY.md',
  'CHANGELOG.md',
  'src/api/schemas',
  'src/resources',
  'src/sync',
]

/** Words and phrases that the field does not use for these things. */
const retired =
  /\b(nobody|told|tell(er|ing)|hears?|heard|settle[sd]?|absorb(s|ed)?|takes? in|taken in|takeIn|TakenIn|lapsed?|bury|buried|announces?|set aside|setAside|objection|whoever|somebody|(cannot|can) be had|who (asks|looks|comes))\b/gi

/** Words that are right in one place, with the reason. */
const allowed: Readonly<Record<string, readonly string[]>> = {
  // Lore of the simulated game.
  'src/sandbox/generator/words.ts': ['nobody', 'Whoever'],
  // A fault that operators name in `--faults`.
  'src/sandbox/faults/kinds/incomplete.ts': ['nobody'],
  'docs/how-to/sandbox.md': ['nobody'],
  'test/end-to-end/faults/command.test.ts': ['nobody'],
  'test/end-to-end/faults/each.test.ts': ['nobody'],
  // The user of the operating system.
  'test/support/postgres-binaries.ts': ['nobody'],
  'test/support/postgres-cluster.ts': ['nobody'],
}

function filesBelow(path: string): string[] {
  if (!statSync(join(root, path)).isDirectory()) return [path]
  return readdirSync(join(root, path)).flatMap((name) => filesBelow(`${path}/${name}`))
}

test('no retired word is in code, comments or documents', () => {
  const found = held
    .flatMap(filesBelow)
    .filter((path) => /\.(ts|mjs|md|sql)$/.test(path))
    .flatMap((path) => {
      const words = [...readFileSync(join(root, path), 'utf8').matchAll(retired)].map(([word]) => word)
      return words.filter((word) => !allowed[path]?.includes(word)).map((word) => `${path}: ${word}`)
    })
  expect(found).toEqual([])
})
