import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

/**
 * The licenses of the libraries that a bundle holds, as these ask for.
 * @param inputs the files it was made from, relative to `root`
 */
export async function licenses(root, inputs) {
  const folders = inputs.flatMap((file) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? [])
  const texts = [...new Set(folders)].sort().map((folder) => license(join(root, folder)))
  return (await Promise.all(texts)).join(`\n${'-'.repeat(80)}\n\n`)
}

async function license(folder) {
  const { name, version, license } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'))
  const file = (await readdir(folder)).find((name) => /^licen[cs]e/i.test(name))
  const text = file === undefined ? '' : await readFile(join(folder, file), 'utf8')
  return `${name} ${version}, ${license}\n\n${text.replaceAll('\r\n', '\n').trim()}\n`
}
