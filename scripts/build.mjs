// Builds the package, run by `npm run build`: every module of `src` with its types by the compiler, for what package.json
// exports, and over `dist/main.js` the program, bundled with its libraries into a few files in `dist/program`. A command
// starts in half the time that way. Then the migrated cluster that new embedded databases are unpacked from: it takes some
// seconds, so it is kept beside the libraries, and made anew only when something that it depends on has changed.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import process, { exit } from 'node:process'
import { build } from 'esbuild'
import { licenses } from './build/licenses.mjs'

const root = join(import.meta.dirname, '..')

/** Two folders below the root, as every compiled module that looks for files of the package is. */
const chunks = 'program'

/** In place of all of undici, whose loading costs 60 ms and 10 MB, what the program uses of it. */
const part = {
  name: 'part of undici',
  setup: ({ onResolve }) => onResolve({ filter: /^undici$/ }, () => ({ path: join(root, 'scripts/build/undici.mjs') })),
}

const compiler = spawn(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', root], {
  stdio: 'inherit',
})
const compiled = once(compiler, 'close')
const { outputFiles, metafile } = await build({
  absWorkingDir: root,
  entryPoints: ['src/main.ts'],
  outdir: 'dist',
  chunkNames: `${chunks}/[name]-[hash]`,
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  // Names stay, so that a stack trace says where an error is from.
  minifySyntax: true,
  minifyWhitespace: true,
  lineLimit: 160,
  legalComments: 'none',
  // It finds its own files beside itself.
  external: ['@electric-sql/pglite'],
  plugins: [part],
  // Libraries in CommonJS ask for modules of Node this way.
  banner: { js: `import{createRequire as ownRequire}from'node:module';const require=ownRequire(import.meta.url);` },
  metafile: true,
  write: false,
  logLevel: 'warning',
})
const [code] = await compiled
if (code !== 0) exit(code ?? 1)

// After the compiler, which writes `dist/main.js` too.
await rm(join(root, 'dist', chunks), { recursive: true, force: true })
for (const { path, contents } of outputFiles) {
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, contents)
}
await writeFile(join(root, 'dist', chunks, 'LICENSES.txt'), await licenses(root, Object.keys(metafile.inputs)))

const { makeTemplate } = await import('../dist/app/app.js')
const kept = join(root, 'node_modules/.cache/wynnsync')
await makeTemplate(kept)
await cp(kept, join(root, 'dist/cluster'), { recursive: true })
