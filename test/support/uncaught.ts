/** Uncaught errors in a test's process: as in processes of their own, one that something running can repair is none. */
export const repairs = new Set<(error: unknown) => boolean>();

if (!process.hasUncaughtExceptionCaptureCallback())
  process.setUncaughtExceptionCaptureCallback((error) => {
    if (![...repairs].map((repair) => repair(error)).includes(true)) process.emit('uncaughtException', error);
  });
