import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'

const names = ['chromium', 'chromium-browser', 'google-chrome']

/** Path of a Chromium: WYNNSYNC_TEST_CHROMIUM, or the first on the path; undefined where there is none. */
export function findChromium(): string | undefined {
  if (process.env.WYNNSYNC_TEST_CHROMIUM) return process.env.WYNNSYNC_TEST_CHROMIUM
  const folders = (process.env.PATH ?? '').split(delimiter)
  return folders.flatMap((folder) => names.map((name) => join(folder, name))).find(isProgram)
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
