import { readFileSync } from 'node:fs'

/** The version of this package, from the package.json that lies two folders above both src/api and dist/api. */
export function packageVersion(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')
  const { version } = JSON.parse(text) as { version: string }
  return version
}
