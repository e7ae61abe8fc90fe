// Builds the package, run by `npm run build`: every module of `src` with its types by the compiler, for what package.json
// exports, and over `dist/main.js` the program, bundled with its libraries into a few files in `dist/program`. A command
// starts a third cheaper that way. Then the migrated cluster that new embedded databases are unpacked from: it takes some
// seconds, so it is kept beside the libraries, and made anew only when something that it depends on has changed.
// It shows that it goes on. With --if-needed it does nothing when it was built after the last change. A program that is there runs meanwhile.
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import process, { argv, exit, stderr, stdout } from 'node:process'
import { build, transform } from 'esbuild'
import { isBuilt } from './build/is-built.mjs'
import { licenses } from './build/licenses.mjs'

const root = join(import.meta.dirname, '..')
const ifNeeded = argv.includes('--if-needed')
if (ifNeeded && isBuilt(root)) exit(0)
// `npm pack --json` has its document on stdout.
const shown = ifNeeded ? stdout : stderr
shown.write(ifNeeded ? 'The program is built first ' : 'Building ')
setInterval(() => shown.write('.'), 1000).unref()
process.once('exit', () => shown.write('\n'))

/** Two folders below the root, as every compiled module that looks for files of the package is. */
const folder = join(root, 'dist/program')

/** In place of modules of libraries, what the program uses of them: all of undici costs 60 ms and 10 MB, events of linkedom half of a picture. */
const parts = {
  name: 'parts of libraries',
  setup: ({ onResolve }) => {
    onResolve({ filter: /^undici$/ }, ({ importer }) => {
      // What knows proxies is a file of its own, for those who have one.
      const part = importer.endsWith('http-proxy.ts') ? 'undici-proxy.mjs' : 'undici.mjs'
      return { path: join(root, 'scripts/build', part) }
    })
    // A second parser, for processors that cannot run the first one.
    onResolve({ filter: /\/llhttp-wasm\.js$/ }, () => ({ path: './llhttp-wasm.cjs', external: true }))
    onResolve({ filter: /\/subscribe\.js$/ }, ({ importer }) =>
      /[\\/]postgres[\\/]/.test(importer) ? { path: join(root, 'scripts/build/postgres-subscribe.mjs') } : undefined,
    )
    onResolve({ filter: /\/transport$/ }, ({ importer }) =>
      /[\\/]pino[\\/]/.test(importer) ? { path: join(root, 'scripts/build/pino-transport.cjs') } : undefined,
    )
    onResolve({ filter: /\/event-target\.js$/ }, ({ importer }) =>
      /[\\/]linkedom[\\/]/.test(importer) ? { path: join(root, 'scripts/build/event-target.mjs') } : undefined,
    )
  },
}

const project = join(root, 'scripts/build/tsconfig.json')
const compiler = spawn(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', project], {
  stdio: 'inherit',
})
const compiled = once(compiler, 'close')
const shared = {
  absWorkingDir: root,
  bundle: true,
  platform: 'node',
  target: 'node20',
  // Names stay, so that a stack trace says where an error is from.
  minifySyntax: true,
  minifyWhitespace: true,
  lineLimit: 160,
  legalComments: 'none',
  metafile: true,
  write: false,
  logLevel: 'warning',
}
const program = await build({
  ...shared,
  entryPoints: ['src/cli/program.ts'],
  outdir: folder,
  chunkNames: '[name]-[hash]',
  outExtension: { '.js': '.cjs' },
  splitting: true,
  format: 'esm',
  // It is installed by those who want it, or finds its own files beside itself.
  external: [
    '@electric-sql/pglite',
    '@modelcontextprotocol/sdk/*',
    '@duckdb/node-api',
    '@resvg/resvg-wasm',
    'node-sqlite3-wasm',
    // Of cli-table3, for colours of borders, which no table here has.
    '@colors/colors/safe',
  ],
  plugins: [parts],
})
// Only modules can be split, and only of CommonJS can Node 20 keep what it compiled.
const files = await Promise.all(withoutEmpty(program.outputFiles).map(inCommonJs))
const second = await readFile(join(root, 'node_modules/undici/lib/llhttp/llhttp-wasm.js'), 'utf8')
files.push({ path: join(folder, 'llhttp-wasm.cjs'), text: inAscii(second) })
const edition = createHash('sha256')
for (const { text } of files) edition.update(text)
// A thread begins with a file of its own.
const thread = await build({
  ...shared,
  entryPoints: ['src/db/embedded/engine-worker.ts'],
  outdir: folder,
  outExtension: { '.js': '.mjs' },
  format: 'esm',
  external: ['@electric-sql/pglite'],
})
const main = await build({
  ...shared,
  entryPoints: ['src/main.ts'],
  outdir: 'dist',
  format: 'esm',
  define: { EDITION: JSON.stringify(edition.digest('hex').slice(0, 16)) },
})
const [code] = await compiled
if (code !== 0) exit(code ?? 1)

await mkdir(folder, { recursive: true })
const inputs = [program, thread, main].flatMap(({ metafile }) => Object.keys(metafile.inputs))
files.push(...thread.outputFiles, ...main.outputFiles, {
  path: join(folder, 'LICENSES.txt'),
  text: await licenses(root, inputs),
})
for (const { path, text } of files) await writeFile(path, text)
const written = new Set(files.map(({ path }) => path))
const old = (await readdir(folder)).map((name) => join(folder, name)).filter((path) => !written.has(path))
for (const path of old) await rm(path, { recursive: true })
// What was compiled of a source that is gone would be packed. A mutation run has its copy of the program here, perhaps just now.
for (const path of await readdir(join(root, 'dist'), { recursive: true })) {
  if (path.startsWith('mutation/')) continue
  const [, source] = /^(.+?)(?:\.d\.ts|\.js)$/.exec(path) ?? []
  if (source !== undefined && !existsSync(join(root, 'src', `${source}.ts`))) await rm(join(root, 'dist', path))
  else if (/^(?:api|base|questions|sandbox)\b.*\.js$/.test(path)) await writeWithoutComments(join(root, 'dist', path))
  else if (path.endsWith('.d.ts')) await writeWithTabs(join(root, 'dist', path))
}

const { makeTemplate } = await import('../dist/app/app.js')
const kept = join(root, 'node_modules/.cache/wynnsync')
await makeTemplate(kept)
// Beside them may lie what another build is making.
for (const name of ['cluster.tar.br', 'cluster.json']) await cp(join(kept, name), join(root, 'dist/cluster', name))

/** An editor shows those of the types beside it; in the package they would take room a second time. */
async function writeWithoutComments(path) {
  const { code } = await transform(await readFile(path, 'utf8'), {
    target: 'node20',
    legalComments: 'none',
    charset: 'utf8',
  })
  await writeFile(path, code)
}

/** The compiler indents by four spaces each, a tenth of all declarations. */
async function writeWithTabs(path) {
  const text = await readFile(path, 'utf8')
  await writeFile(
    path,
    text.replace(/^(?: {4})+/gm, (indent) => '\t'.repeat(indent.length / 4)),
  )
}

/** The bundler splits off parts without code, which others load. */
function withoutEmpty(parts) {
  const empty = parts.filter(({ text }) => text.trim() === '').map(({ path }) => basename(path))
  return parts
    .filter(({ path }) => !empty.includes(basename(path)))
    .map(({ path, text }) => ({
      path,
      text: empty.reduce((rest, name) => rest.replaceAll(`import"./${name}";`, ''), text),
    }))
}

async function inCommonJs({ path, text }) {
  const { code } = await transform(text, {
    format: 'cjs',
    platform: 'neutral',
    target: 'node20',
    supported: { 'dynamic-import': false },
    define: { 'import.meta.url': 'ownUrl' },
    minifySyntax: true,
    minifyWhitespace: true,
    lineLimit: 160,
  })
  // Of the code: in the text, a line may end inside of the name.
  const url = code.includes('ownUrl') ? 'var ownUrl=require("node:url").pathToFileURL(__filename).href;\n' : ''
  return { path, text: `${url}${inAscii(code)}` }
}

/**
 * The program is read as Latin 1, which takes half the memory. In texts the bundler escapes other letters itself; in tagged templates
 * and regular expressions it leaves them, although the escape means the same there (but for `String.raw`).
 */
function inAscii(code) {
  return code.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
