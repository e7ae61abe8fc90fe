// The patches of this folder: each is one change of the table in CONTRIBUTING.md, as somebody would make it. Before the first `diff`
// stand its name, the files that are written by hand with what is in them, and the tests that see it.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Every change: `{ name, path, files: [[file, what]], tests: [path] }`, in the order of their files' names. */
export function readChanges() {
  const folder = import.meta.dirname
  return readdirSync(folder)
    .filter((name) => name.endsWith('.patch'))
    .sort()
    .map((name) => {
      const path = join(folder, name)
      const text = readFileSync(path, 'utf8')
      const [title = '', ...lines] = text.slice(0, text.indexOf('diff --git')).split('\n').filter(Boolean)
      const entries = lines.map((line) => [line.slice(0, line.indexOf(': ')), line.slice(line.indexOf(': ') + 2)])
      return {
        name: name.replace('.patch', ''),
        title,
        path,
        files: entries.filter(([file]) => file !== 'tests'),
        tests: (entries.find(([file]) => file === 'tests')?.[1] ?? '').split(' '),
        touched: [...text.matchAll(/^diff --git a\/(\S+)/gm)].map(([, file = '']) => file),
      }
    })
}
