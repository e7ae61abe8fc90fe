import { onTestFinished } from 'vitest'

const leftForTheFile: (() => Promise<unknown>)[] = []

/** Does something after the calling test, or after the calling file when it is called outside of a test. */
export function afterwards(finish: () => Promise<unknown>): void {
  try {
    onTestFinished(async () => void (await finish()))
  } catch {
    leftForTheFile.push(finish)
  }
}

/** In reverse: a database is closed before it is dropped or its folder removed. */
export async function finishFile(): Promise<void> {
  for (const finish of leftForTheFile.splice(0).reverse()) await finish()
}
