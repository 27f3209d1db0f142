#include "image/ompp_image.h"

#include "base/ompp_pages.h"
#include "base/ompp_regular.h"

#include <elf.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

bool ompp_image_open(const char *path, ompp_image_t *image)
{
    int fd = ompp_regular_open(path);
    struct stat st;
    void *data = MAP_FAILED;

    if (fd < 0) return false;
    if (fstat(fd, &st) == 0 && st.st_size > 0) data = ompp_mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    if (data == MAP_FAILED) return false;
    *image = (ompp_image_t){data, st.st_size};
    return true;
}

bool ompp_image_runs_here(const ompp_image_t *image)
{
    const ElfW(Ehdr) *h = (const void *)image->data;
    const ElfW(Half) machine =
#if defined(__x86_64__)
        EM_X86_64;
#elif defined(__aarch64__)
        EM_AARCH64;
#elif defined(__powerpc64__)
        EM_PPC64;
#else
        h->e_machine;
#endif

    return image->size >= sizeof *h && memcmp(h->e_ident, ELFMAG, SELFMAG) == 0 &&
           h->e_ident[EI_CLASS] == (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32) && h->e_machine == machine &&
           h->e_phentsize == sizeof(ElfW(Phdr)) && h->e_phoff <= image->size &&
           h->e_phnum <= (image->size - h->e_phoff) / sizeof(ElfW(Phdr));
}

const ElfW(Phdr) * ompp_image_header(const ompp_image_t *image, ElfW(Word) type)
{
    const ElfW(Ehdr) *h = (const void *)image->data;
    const ElfW(Phdr) *p = (const void *)(image->data + h->e_phoff);

    for (unsigned i = 0; i < h->e_phnum; i++)
        if (p[i].p_type == type) return &p[i];
    return NULL;
}

void ompp_image_close(const ompp_image_t *image) { ompp_munmap((void *)image->data, image->size); }
