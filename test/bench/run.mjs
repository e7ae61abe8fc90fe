import { execFile } from 'node:child_process'
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { parseArgs, promisify } from 'node:util'

// The bench is TypeScript, which Node 20 does not run: it is compiled, with the sources it measures, into a folder of
// its own. Commands are measured as installed, from `dist`.

// A week of a tenth of the guilds; `npm run bench -- year --days 365 --guilds 500` is a whole year, and
// `npm run bench -- year --budget whole --days 14` two weeks of all that a token's budget allows. `--commits 100` makes the
// histories of git shorter.
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    days: { type: 'string', default: '7' },
    guilds: { type: 'string' },
    budget: { type: 'string', default: 'part' },
    commits: { type: 'string' },
  },
})
const isWhole = values.budget === 'whole'

const root = fileURLToPath(new URL('../../', import.meta.url))
const folder = await mkdtemp(join(tmpdir(), 'wynnsync-bench-'))
try {
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'))
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }')
  const project = {
    extends: join(root, 'tsconfig.json'),
    compilerOptions: {
      rootDir: root,
      outDir: folder,
      declaration: false,
      typeRoots: [join(root, 'node_modules/@types')],
    },
    files: ['bench', 'meter', 'peers/copy-flat'].map((name) => join(root, `test/bench/${name}.ts`)),
    include: [],
  }
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(project))
  await promisify(execFile)(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', folder])
  const { bench } = await import(pathToFileURL(join(folder, 'test/bench/bench.js')).href)
  await bench({
    program: join(root, 'dist/main.js'),
    folder,
    only: positionals,
    extent: {
      days: Number(values.days),
      guilds: Number(values.guilds ?? (isWhole ? 2600 : 50)),
      isWhole,
      commits: Number(values.commits ?? Number.POSITIVE_INFINITY),
    },
  })
} finally {
  await rm(folder, { recursive: true, force: true, maxRetries: 3 })
}
