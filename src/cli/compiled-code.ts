import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import module, { createRequire } from 'node:module'
import { join } from 'node:path'
import { constants, Script } from 'node:vm'
import { createFolder } from '../base/private-folder.ts'

/** Loads the modules of a folder, and keeps what V8 compiled of them. */
interface CompiledCode {
  /** What the module exports. Modules are CommonJS; those of the folder name each other by `./`. */
  load(name: string): unknown
  /** Writes down what was compiled in this process and is not yet kept. A folder that cannot be written is no error. */
  keep(): void
}

/** Where the code of a module lies among the kept bytes. */
type Places = Record<string, readonly [start: number, end: number]>

const WRAPPER = '(function(exports,require,module,__filename){'
const DIGEST_BYTES = 32

/** Where modules lie, and where what is compiled of them is kept. */
interface CompiledCodeOptions {
  readonly folder: string
  /** A folder of the user's own: code must not come from one that others may write. */
  readonly kept: string
  /** Of the modules; what another one kept is thrown away. */
  readonly edition: string
  /** What is kept apart: every command uses other modules. */
  readonly use: string
}

/** From 22.1 on, which its types for Node 20 do not say. */
type Node = typeof module & { enableCompileCache?: (folder: string) => unknown }

/** A command spends a fifth of its processor time on compiling what the one before it compiled too. */
export function compiledCode(options: CompiledCodeOptions, node: Node = module): CompiledCode {
  const { folder, kept } = options
  const uncached: CompiledCode = { load: (name) => createRequire(join(folder, name))(`./${name}`), keep() {} }
  try {
    // Of another user: root must not run what that user may have put there, nor leave files there.
    createFolder(kept)
  } catch {
    return uncached
  }
  if (!node.enableCompileCache) return keptByUs(options)
  node.enableCompileCache(kept)
  return uncached
}

/** Does for CommonJS what later versions of Node do themselves. */
function keptByUs({ folder, kept, edition, use }: CompiledCodeOptions): CompiledCode {
  const of = `${edition}-${process.versions.v8}-${process.arch}`
  const file = join(kept, of, use)
  const before = readKept(file)
  const loaded = new Map<string, { exports: unknown }>()
  const scripts = new Map<string, Script>()
  let isNew = false
  const load = (name: string): unknown => {
    const known = loaded.get(name)
    if (known) return known.exports
    const filename = join(folder, name)
    const [start, end] = before.places[name] ?? [0, 0]
    const source = `${WRAPPER}${readFileSync(filename, 'latin1')}\n})`
    const importModuleDynamically = constants.USE_MAIN_CONTEXT_DEFAULT_LOADER
    const script = new Script(source, {
      filename,
      importModuleDynamically,
      ...(end > 0 ? { cachedData: before.bytes.subarray(start, end) } : {}),
    })
    isNew ||= end === 0 || script.cachedDataRejected === true
    scripts.set(name, script)
    const module = { exports: {} }
    loaded.set(name, module)
    const outer = createRequire(filename)
    const require = (other: string) => (other.startsWith('./') ? load(other.slice(2)) : outer(other))
    script.runInThisContext()(module.exports, require, module, filename)
    return module.exports
  }
  const keep = () => {
    if (!isNew) return
    const parts = new Map(Object.entries(before.places).map(([name, at]) => [name, before.bytes.subarray(...at)]))
    for (const [name, script] of scripts) parts.set(name, script.createCachedData())
    writeKept({ kept, edition: of, file }, parts)
  }
  return { load, keep }
}

/** Nothing when there is no file, or not as it was written: V8 trusts what it is given. */
function readKept(file: string): { places: Places; bytes: Buffer } {
  try {
    const all = readFileSync(file)
    const rest = all.subarray(DIGEST_BYTES)
    if (!digestOf(rest).equals(all.subarray(0, DIGEST_BYTES))) throw new Error('damaged')
    const bytes = rest.subarray(4 + rest.readUInt32LE(0))
    return { places: JSON.parse(rest.toString('latin1', 4, rest.length - bytes.length)) as Places, bytes }
  } catch {
    return { places: {}, bytes: Buffer.alloc(0) }
  }
}

function writeKept(
  { kept, edition, file }: { kept: string; edition: string; file: string },
  parts: ReadonlyMap<string, Buffer>,
): void {
  let end = 0
  const places: Places = {}
  for (const [name, { length: size }] of parts) {
    places[name] = [end, end + size]
    end += size
  }
  const index = Buffer.from(JSON.stringify(places), 'latin1')
  const length = Buffer.alloc(4)
  length.writeUInt32LE(index.length)
  const rest = Buffer.concat([length, index, ...parts.values()])
  try {
    createFolder(join(kept, edition))
    // Whole or not at all: another command may read it now.
    writeFileSync(`${file}.${process.pid}`, Buffer.concat([digestOf(rest), rest]), { mode: 0o600 })
    renameSync(`${file}.${process.pid}`, file)
    for (const other of readdirSync(kept)) if (other !== edition) rmSync(join(kept, other), { recursive: true })
  } catch {
    // It is compiled again the next time.
  }
}

function digestOf(bytes: Uint8Array): Buffer {
  return createHash('sha256').update(bytes).digest()
}
