/** Preloaded into a process (`node --import`): its clock is ahead by the milliseconds in this file's query. */
const ahead = Number(new URL(import.meta.url).searchParams.get('milliseconds'));
const RealDate = Date;

globalThis.Date = class extends RealDate {
  constructor(...args) {
    if (args.length === 0) super(RealDate.now() + ahead);
    else super(...args);
  }

  static now() {
    return RealDate.now() + ahead;
  }
};
