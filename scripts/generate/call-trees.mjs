// The call trees of docs/explanation/architecture.md: which functions of which files one piece of work goes through, in the order
// in which the sources name them. Read from the compiled sources: nothing is run.

import { readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { parse } from 'acorn'

/**
 * A tree of calls as text, a function and its file in each line. A function stands where it is first named; one that is called from
 * its own file only is left out, and what it calls stands in its place.
 * @param root `file#function`, below `dist` and without `.js`
 * @param options.through what a call of a declared function stands for: `resource.derive` may be that of territories
 * @param options.leaves files and folders whose functions are left out, such as `base`
 * @throws RangeError for a root that is not there
 */
export function callTree(root, { through = {}, leaves = [], depth = 8 } = {}) {
  const seen = new Set()
  const lines = []
  const visit = (file, name, level, from) => {
    const id = `${file}#${name}`
    if (seen.has(id) || leaves.some((leaf) => file === leaf || file.startsWith(`${leaf}/`))) return
    seen.add(id)
    const found = moduleOf(file).functions.get(name)
    if (!found) {
      if (from === undefined) throw new RangeError(`${id} is no function`)
      return
    }
    const isShown = file !== from && isFunction(found)
    if (isShown) lines.push([`${' '.repeat(level)}${name}`, `src/${file}.ts`])
    if (level >= depth) return
    for (const [target, called] of namedIn(found, file, through))
      visit(target, called, isShown ? level + 1 : level, file)
  }
  const [file, name] = root.split('#')
  visit(file, name, 0)
  const width = Math.max(...lines.map(([left]) => left.length)) + 2
  return ['```', ...lines.map(([left, right]) => left.padEnd(width) + right), '```'].join('\n')
}

function isFunction({ type }) {
  return /^(Function|Class)Declaration$|^(ArrowFunction|Function)Expression$/.test(type)
}

const modules = new Map()

/** The top-level functions of a compiled file, and where each imported name comes from. */
function moduleOf(file) {
  const known = modules.get(file)
  if (known) return known
  const { body } = parse(readFileSync(`dist/${file}.js`, 'utf8'), { ecmaVersion: 'latest', sourceType: 'module' })
  const functions = new Map()
  const imports = new Map()
  for (const statement of body) {
    const source = statement.source?.value
    if (source?.startsWith('.')) {
      const target = normalize(join(dirname(file), source))
        .replaceAll('\\', '/')
        .replace(/\.js$/, '')
      for (const { local, imported = local, exported } of statement.specifiers ?? [])
        imports.set((exported ?? local).name, [target, (exported ? local : imported).name])
    }
    const declared = statement.declaration ?? statement
    if (/^(Function|Class)Declaration$/.test(declared.type)) functions.set(declared.id.name, declared)
    // A constant may be a function, or hold some: an object of handlers.
    for (const { id, init } of declared.declarations ?? []) if (init && id.name) functions.set(id.name, init)
  }
  const read = { functions, imports }
  modules.set(file, read)
  return read
}

/** The functions that the text of one names, as [file, name], in their order. */
function* namedIn(node, file, through) {
  const { functions, imports } = moduleOf(file)
  for (const name of identifiersIn(node)) {
    const [target, called] =
      (Object.hasOwn(through, name) ? through[name].split('#') : undefined) ??
      imports.get(name) ??
      (functions.has(name) ? [file, name] : [])
    if (target !== undefined) yield origin(target, called)
  }
}

/** Where a name is declared that a file may only pass on. */
function origin(file, name) {
  const { functions, imports } = moduleOf(file)
  const [target, called] = (!functions.has(name) && imports.get(name)) || []
  return target === undefined ? [file, name] : origin(target, called)
}

/** Names in the text of a function; of a property, `object.property`. */
function* identifiersIn(node) {
  if (Array.isArray(node)) {
    for (const one of node) yield* identifiersIn(one)
    return
  }
  if (typeof node?.type !== 'string') return
  if (node.type === 'Identifier') yield node.name
  if (node.type === 'MemberExpression' && !node.computed) {
    yield* identifiersIn(node.object)
    if (node.object.type === 'Identifier') yield `${node.object.name}.${node.property.name}`
    return
  }
  if (node.type === 'Property' && !node.computed) {
    yield* identifiersIn(node.value)
    return
  }
  for (const value of Object.values(node)) if (typeof value === 'object') yield* identifiersIn(value)
}
