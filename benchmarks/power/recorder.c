/* Writes down what a program asks of one disk, in its order: what was written, what the program waited for (fsync), and
   which names came and went. `disk.py` reads it, and says what is left of such a disk after a loss of power.

   POWER_DISK is the mount point, POWER_LOG the file that is written to. A record: the length of all that follows, its
   kind, an inode, an offset, then bytes (of a write) or one or two absolute paths, each ended by a zero byte. An operation
   and its record are one step: no other process does anything to the disk between them. Built and preloaded by playing.py. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sendfile.h>
#include <sys/uio.h>
#include <unistd.h>
#include <limits.h>

#define HIGH 900 /* descriptors of programs are lower */
#define REAL(name) ((__typeof__(&name))real(#name))

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int log_file = -1;
static ino_t log_inode;
static dev_t disk;
static char disk_path[PATH_MAX];
static size_t disk_length;

static void *real(const char *name) { return dlsym(RTLD_NEXT, name); }

static void hold(void) { pthread_mutex_lock(&mutex); }
static void let_go(void) { pthread_mutex_unlock(&mutex); }

static void reopen(void) {
    int file = REAL(open)(getenv("POWER_LOG"), O_WRONLY | O_APPEND | O_CLOEXEC);
    struct stat found;
    if (file < 0 || fstat(file, &found)) abort();
    log_file = fcntl(file, F_DUPFD_CLOEXEC, HIGH);
    log_inode = found.st_ino;
    close(file);
}

__attribute__((constructor)) static void begin(void) {
    const char *path = getenv("POWER_DISK");
    struct stat found;
    if (!path || !getenv("POWER_LOG") || stat(path, &found)) return;
    disk_length = strlen(path);
    memcpy(disk_path, path, disk_length + 1);
    disk = found.st_dev;
    reopen();
    pthread_atfork(hold, let_go, let_go);
}

static void enter(void) {
    struct stat found;
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    hold();
    if (fstat(log_file, &found) || found.st_ino != log_inode) reopen();
    while (fcntl(log_file, F_SETLKW, &whole) && errno == EINTR) {}
}

static void leave(void) {
    int error = errno;
    struct flock whole = {.l_type = F_UNLCK, .l_whence = SEEK_SET};
    fcntl(log_file, F_SETLK, &whole);
    let_go();
    errno = error;
}

static void note(char kind, uint64_t inode, uint64_t offset, const struct iovec *parts, int count) {
    int error = errno;
    struct __attribute__((packed)) { uint32_t length; char kind; uint64_t inode, offset; } head = {0, kind, inode, offset};
    struct iovec all[64];
    size_t length = sizeof head - sizeof head.length;
    if (count > 63) abort();
    for (int i = 0; i < count; i++) length += (all[i + 1] = parts[i]).iov_len;
    head.length = length;
    all[0] = (struct iovec){&head, sizeof head};
    if (REAL(writev)(log_file, all, count + 1) != (ssize_t)(length + sizeof head.length)) abort();
    errno = error;
}

/* What a descriptor is: the inode of a file or folder on the disk, 0 for anything else. */
static ino_t ours(int file, mode_t kind) {
    struct stat found;
    int error = errno;
    int is_ours = disk && !fstat(file, &found) && found.st_dev == disk && (found.st_mode & S_IFMT) == kind;
    errno = error;
    return is_ours ? found.st_ino : 0;
}

static off_t end_of(int file) {
    struct stat found;
    return fstat(file, &found) ? 0 : found.st_size;
}

/* --- contents --- */

static ssize_t written(int file, const struct iovec *parts, int count, off_t at, int is_placed) {
    ino_t inode = ours(file, S_IFREG);
    if (!inode) return is_placed ? REAL(pwritev)(file, parts, count, at) : REAL(writev)(file, parts, count);
    enter();
    if (!is_placed) at = fcntl(file, F_GETFL) & O_APPEND ? end_of(file) : lseek(file, 0, SEEK_CUR);
    ssize_t done = is_placed ? REAL(pwritev)(file, parts, count, at) : REAL(writev)(file, parts, count);
    struct iovec kept[63];
    int used = 0;
    for (ssize_t left = done; left > 0 && used < count; used++) {
        kept[used] = parts[used];
        if ((ssize_t)kept[used].iov_len > left) kept[used].iov_len = left;
        left -= kept[used].iov_len;
    }
    if (done > 0) note('w', inode, at, kept, used);
    leave();
    return done;
}

static ssize_t written_one(int file, const void *bytes, size_t length, off_t at, int is_placed) {
    struct iovec one = {(void *)bytes, length};
    return written(file, &one, 1, at, is_placed);
}

ssize_t write(int file, const void *bytes, size_t length) {
    if (!ours(file, S_IFREG)) return REAL(write)(file, bytes, length);
    return written_one(file, bytes, length, 0, 0);
}
ssize_t pwrite(int file, const void *bytes, size_t length, off_t at) { return written_one(file, bytes, length, at, 1); }
ssize_t pwrite64(int file, const void *bytes, size_t length, off_t at) { return written_one(file, bytes, length, at, 1); }
ssize_t writev(int file, const struct iovec *parts, int count) { return written(file, parts, count, 0, 0); }
ssize_t pwritev(int file, const struct iovec *parts, int count, off_t at) { return written(file, parts, count, at, 1); }
ssize_t pwritev64(int file, const struct iovec *parts, int count, off_t at) { return written(file, parts, count, at, 1); }

/* Programs copy in another way where these cannot. */
ssize_t sendfile(int to, int from, off_t *offset, size_t count) {
    if (ours(to, S_IFREG)) return errno = EINVAL, -1;
    return REAL(sendfile)(to, from, offset, count);
}
ssize_t sendfile64(int to, int from, off_t *offset, size_t count) { return sendfile(to, from, offset, count); }
ssize_t copy_file_range(int from, off_t *at, int to, off_t *there, size_t count, unsigned flags) {
    if (ours(to, S_IFREG)) return errno = EXDEV, -1;
    return REAL(copy_file_range)(from, at, to, there, count, flags);
}

static int cut(int file, off_t length, int may_shorten) {
    ino_t inode = ours(file, S_IFREG);
    if (!inode) return REAL(ftruncate)(file, length);
    enter();
    int failed = !may_shorten && end_of(file) >= length ? 0 : REAL(ftruncate)(file, length);
    if (!failed) note('t', inode, end_of(file), NULL, 0);
    leave();
    return failed;
}
int ftruncate(int file, off_t length) { return cut(file, length, 1); }
int ftruncate64(int file, off_t length) { return cut(file, length, 1); }
int fallocate(int file, int mode, off_t at, off_t length) {
    if (!ours(file, S_IFREG)) return REAL(fallocate)(file, mode, at, length);
    return mode ? (errno = EOPNOTSUPP, -1) : cut(file, at + length, 0);
}
int fallocate64(int file, int mode, off_t at, off_t length) { return fallocate(file, mode, at, length); }
int posix_fallocate(int file, off_t at, off_t length) {
    if (!ours(file, S_IFREG)) return REAL(posix_fallocate)(file, at, length);
    return cut(file, at + length, 0) ? errno : 0;
}
int posix_fallocate64(int file, off_t at, off_t length) { return posix_fallocate(file, at, length); }

/* What is on the disk before the call is safe after it: a folder's names, or a file's contents. */
static int waited(int file, int (*wait)(int)) {
    ino_t contents = ours(file, S_IFREG), names = ours(file, S_IFDIR);
    if (!contents && !names) return wait(file);
    enter();
    int failed = wait(file);
    if (!failed) note(contents ? 's' : 'd', contents ? contents : names, 0, NULL, 0);
    leave();
    return failed;
}
int fsync(int file) { return waited(file, REAL(fsync)); }
int fdatasync(int file) { return waited(file, REAL(fdatasync)); }

/* --- names --- */

static int placed(int folder, const char *path, char *whole) {
    char link[64];
    ssize_t length = 0;
    if (!disk || !path) return 0;
    if (*path != '/') {
        if (folder == AT_FDCWD) {
            if (!getcwd(whole, PATH_MAX)) return 0;
            length = strlen(whole);
        } else {
            snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
            if ((length = readlink(link, whole, PATH_MAX - 1)) < 0) return 0;
        }
        whole[length++] = '/';
        while (path[0] == '.' && path[1] == '/') path += 2;
    }
    if (length + strlen(path) >= PATH_MAX) return 0;
    strcpy(whole + length, path);
    return !strncmp(whole, disk_path, disk_length) && whole[disk_length] == '/';
}

static void note_name(char kind, uint64_t inode, char *path, char *to) {
    struct iovec parts[2] = {{path, strlen(path) + 1}, {to, to ? strlen(to) + 1 : 0}};
    note(kind, inode, 0, parts, to ? 2 : 1);
}

static int opened(int folder, const char *path, int flags, mode_t mode) {
    char whole[PATH_MAX];
    struct stat before, after;
    if (!(flags & (O_CREAT | O_TRUNC)) || !placed(folder, path, whole)) return REAL(openat)(folder, path, flags, mode);
    enter();
    int is_new = stat(whole, &before) != 0;
    int file = REAL(openat)(folder, path, flags, mode);
    if (file >= 0 && !fstat(file, &after) && after.st_dev == disk && S_ISREG(after.st_mode)) {
        if (is_new) note_name('c', after.st_ino, whole, NULL);
        else if (flags & O_TRUNC) note('t', after.st_ino, 0, NULL, 0);
    }
    leave();
    return file;
}

#define MODE(flags, mode) \
    mode_t mode = 0; \
    if (flags & (O_CREAT | O_TMPFILE)) { va_list rest; va_start(rest, flags); mode = va_arg(rest, mode_t); va_end(rest); }

int open(const char *path, int flags, ...) { MODE(flags, mode) return opened(AT_FDCWD, path, flags, mode); }
int open64(const char *path, int flags, ...) { MODE(flags, mode) return opened(AT_FDCWD, path, flags, mode); }
int openat(int folder, const char *path, int flags, ...) { MODE(flags, mode) return opened(folder, path, flags, mode); }
int openat64(int folder, const char *path, int flags, ...) { MODE(flags, mode) return opened(folder, path, flags, mode); }
int __open_2(const char *path, int flags) { return opened(AT_FDCWD, path, flags, 0); }
int __open64_2(const char *path, int flags) { return opened(AT_FDCWD, path, flags, 0); }
int creat(const char *path, mode_t mode) { return opened(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode); }

static int renamed(int folder, const char *from, int there, const char *to, char kind, int (*change)(int, const char *, int, const char *)) {
    char old[PATH_MAX], new[PATH_MAX];
    if (!placed(folder, from, old) || !placed(there, to, new)) return change(folder, from, there, to);
    enter();
    int failed = change(folder, from, there, to);
    if (!failed) note_name(kind, 0, old, new);
    leave();
    return failed;
}
static int rename_at(int folder, const char *from, int there, const char *to) { return REAL(renameat)(folder, from, there, to); }
static int link_at(int folder, const char *from, int there, const char *to) { return REAL(linkat)(folder, from, there, to, 0); }
int rename(const char *from, const char *to) { return renamed(AT_FDCWD, from, AT_FDCWD, to, 'r', rename_at); }
int renameat(int folder, const char *from, int there, const char *to) { return renamed(folder, from, there, to, 'r', rename_at); }
int link(const char *from, const char *to) { return renamed(AT_FDCWD, from, AT_FDCWD, to, 'l', link_at); }
int linkat(int folder, const char *from, int there, const char *to, int flags) {
    (void)flags;
    return renamed(folder, from, there, to, 'l', link_at);
}

static int removed(int folder, const char *path, int flags) {
    char whole[PATH_MAX];
    if (!placed(folder, path, whole)) return REAL(unlinkat)(folder, path, flags);
    enter();
    int failed = REAL(unlinkat)(folder, path, flags);
    if (!failed) note_name('u', 0, whole, NULL);
    leave();
    return failed;
}
int unlink(const char *path) { return removed(AT_FDCWD, path, 0); }
int rmdir(const char *path) { return removed(AT_FDCWD, path, AT_REMOVEDIR); }
int unlinkat(int folder, const char *path, int flags) { return removed(folder, path, flags); }

static int made(int folder, const char *path, mode_t mode) {
    char whole[PATH_MAX];
    if (!placed(folder, path, whole)) return REAL(mkdirat)(folder, path, mode);
    enter();
    int failed = REAL(mkdirat)(folder, path, mode);
    if (!failed) note_name('k', 0, whole, NULL);
    leave();
    return failed;
}
int mkdir(const char *path, mode_t mode) { return made(AT_FDCWD, path, mode); }
int mkdirat(int folder, const char *path, mode_t mode) { return made(folder, path, mode); }
