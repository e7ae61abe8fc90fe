import { spawn } from 'node:child_process'

/** The program that opens an address in the user's browser, without a shell that would read the address its own way. */
const openers: Partial<Record<NodeJS.Platform, readonly string[]>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
}

/** Opens the address in the user's browser, if there is one. */
export function openBrowser(url: string, platform: NodeJS.Platform = process.platform): void {
  const [command = 'xdg-open', ...args] = openers[platform] ?? []
  const child = spawn(command, [...args, url], { detached: true, stdio: 'ignore', windowsHide: true })
  child.once('error', () => {})
  child.unref()
}
