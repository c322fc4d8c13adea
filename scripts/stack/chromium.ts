/** The machine's Chromium, or Debian's without a window system, in which a page costs two thirds of the time. */
import { renameSync, writeFileSync } from 'node:fs';
import { findProgram, type Program } from './packages.ts';

export async function findChromium(say: (line: string) => void): Promise<Program> {
  const { folder, ...program } = await findProgram({
    say,
    names: ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'],
    packages: ['chromium-headless-shell', 'fonts-dejavu-core'],
    // not usr/bin/chromium: that script looks for the real program below /usr
    inPackage: 'usr/lib/chromium/chromium-headless-shell',
    advice: 'Chromium is missing: install chromium.',
  });
  if (folder) program.env = { ...program.env, FONTCONFIG_FILE: fontSettings(folder) };
  return program;
}

/** A browser without any font draws empty pages; the unpacked fonts come after the machine's own. */
function fontSettings(folder: string): string {
  const file = `${folder}/fonts.conf`;
  const xml = [
    '<?xml version="1.0"?>',
    '<fontconfig>',
    '<include ignore_missing="yes">/etc/fonts/fonts.conf</include>',
    `<dir>${folder}/usr/share/fonts</dir>`,
    `<cachedir>${folder}/fonts-cache</cachedir>`,
    '</fontconfig>',
  ];
  // a browser that another process starts may be reading it
  writeFileSync(`${file}-${process.pid}`, `${xml.join('\n')}\n`);
  renameSync(`${file}-${process.pid}`, file);
  return file;
}
