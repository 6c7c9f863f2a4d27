"""Metadata and dependencies are in setup.cfg; here is what is compiled, and what goes where ROS looks for it.

Every module with a .pxd beside it is compiled: plain Python, given C types by Cython. Where there is no Cython 3, no C
compiler or no Python.h the plain files serve (IK_COMPILE=must makes that an error). Nothing is compiled, and nothing
printed, before `build_ext` runs: colcon reads this file's output for metadata.

`python setup.py inline` writes the .pxd of the modules in INLINED: their functions' bodies with C types, so that the C
compiler can put them in place wherever they are called.
"""

from __future__ import annotations

import ast
import os
from glob import glob
from pathlib import Path
from typing import ClassVar

from setuptools import Command, Extension, setup
from setuptools.command.build_ext import build_ext

NAME = "ik_solver_ros"
# No contraction of a * b + c, lest answers differ between machines, and from plain Python's.
FLAGS = ["-O2", "-ffp-contract=off", "-fno-math-errno", "-g0", "-w"]
# Cython's own arithmetic of complex numbers, which is Python's, and not the C compiler's.
MACROS = [("CYTHON_CCOMPLEX", "0")]
DIRECTIVES = {
    "language_level": "3",
    "annotation_typing": False,  # annotations are for people and mypy; C types are in the .pxd
    "boundscheck": False,
    "wraparound": False,
    "initializedcheck": False,
    "cdivision": True,
    "infer_types": True,
}
# module: its functions' C types, "of the answer(of each argument)"
INLINED = {
    "kinematics/quaternion": {
        "dot": "double(vec, vec)",
        "cross": "vec(vec, vec)",
        "add": "vec(vec, vec)",
        "sub": "vec(vec, vec)",
        "scaled": "vec(double, vec)",
        "multiply": "quat(quat, quat)",
        "conjugate": "quat(quat)",
        "normalized": "quat(quat)",
        "rotate": "vec(quat, vec)",
        "turn": "vec(vec, vec, double)",
        "from_axis_angle": "quat(vec, double)",
        "angle_about": "double(quat, vec)",
        "angle_between": "double(vec, vec)",
        "from_two_vectors": "quat(vec, vec)",
        "from_unit_vectors": "quat(vec, vec)",
    },
    "kinematics/plane": {
        "squared": "double(complex)",
        "size_of": "double(complex)",
        "unit": "complex(complex)",
        "angle_of": "double(complex)",
        "at_angle": "complex(double)",
        "turned": "complex(complex, double)",
        "corner": "Corner(double, double, double)",
        "chord": "double(double)",
        "at": "vec(Turning, double, double)",
        "value": "double(Sinusoid, complex)",
        "sinusoid": "Sinusoid(vec, vec)",
    },
}
HEADERS = {
    "kinematics/quaternion": """
from libc cimport math

ctypedef (double, double, double) vec
ctypedef (double, double, double, double) quat
ctypedef (vec, quat) pose
""",
    "kinematics/plane": """
from libc cimport math

from ik_solver_ros.kinematics.quaternion cimport add, scaled, vec
from ik_solver_ros.kinematics.shapes cimport Corner, Sinusoid, Turning
""",
}
# Beside those: a .pxd that declares types only.
DECLARATIONS = {"kinematics/shapes"}


class OptionalBuildExt(build_ext):
    """Cython first, then the compiler; where one of them fails the plain file is left to serve."""

    def finalize_options(self) -> None:
        made = []
        try:
            from Cython import __version__
            from Cython.Build import cythonize

            if int(__version__.split(".")[0]) < 3:  # the 0.29 of Ubuntu 22.04 and Debian 12
                raise RuntimeError(f"Cython {__version__} is too old, 3.0.8 is wanted")
            made = cythonize(
                self.distribution.ext_modules, build_dir="build/c", compiler_directives=DIRECTIVES, quiet=True
            )
        except Exception as error:  # of whatever kind: it is not there, or does not like the files
            self._give_up(NAME, error)
        for module in made:
            module.optional = os.environ.get("IK_COMPILE") != "must"  # cythonize drops what was said before
        self.distribution.ext_modules = made
        super().finalize_options()
        if self.parallel is None:
            self.parallel = min(2, os.cpu_count() or 1)  # of some 150 MB each: a small computer has not much more

    def build_extension(self, ext: Extension) -> None:
        try:
            super().build_extension(ext)
        except Exception as error:
            self._give_up(ext.name, error)

    def get_outputs(self) -> list[str]:
        return [path for path in super().get_outputs() if Path(path).exists()]

    def _give_up(self, name: str, error: Exception) -> None:
        if os.environ.get("IK_COMPILE") == "must":
            raise error
        self.warn(f"{name} is not compiled and will run as plain Python, slowly: {error}")


class Inline(Command):
    """Write the .pxd of the modules in INLINED."""

    description = "write the .pxd files of functions that are put in place where they are called"
    user_options: ClassVar[list[tuple[str, str | None, str]]] = []

    def initialize_options(self) -> None:
        pass

    def finalize_options(self) -> None:
        pass

    def run(self) -> None:
        for module in INLINED:
            Path(NAME, f"{module}.pxd").write_text(inlined(module), encoding="utf-8")


def inlined(module: str) -> str:
    """The .pxd of a module: each function's body, without its docstring, under a declaration with C types."""
    source = Path(NAME, f"{module}.py").read_text(encoding="utf-8")
    functions = {node.name: node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)}
    out = [f"# Written by `python setup.py inline` from {Path(module).name}.py\n{HEADERS[module]}"]
    for name, types in INLINED[module].items():
        answer, _, rest = types.replace("complex", "double complex").removesuffix(")").partition("(")
        arguments = zip(rest.split(", "), (argument.arg for argument in functions[name].args.args))
        declared = ", ".join(f"{kind} {argument}" for kind, argument in arguments)
        body = functions[name].body[1:]
        lines = source.splitlines()[body[0].lineno - 1 : body[-1].end_lineno]
        out.append("\n".join([f"cpdef inline {answer} {name}({declared}) noexcept nogil:", *lines, ""]))
    return "\n".join(out)


def extensions() -> list[Extension]:
    """One for each .py that has a .pxd beside it to compile it by."""
    found = []
    for pxd in sorted(Path(NAME).glob("**/*.pxd")):
        module = pxd.relative_to(NAME).with_suffix("").as_posix()
        if pxd.stem != "__init__" and module not in INLINED and module not in DECLARATIONS:
            name = ".".join(pxd.with_suffix("").parts)
            found.append(Extension(name, [str(pxd.with_suffix(".py"))], extra_compile_args=FLAGS, define_macros=MACROS))
    return found


setup(
    python_requires=">=3.10",  # not in setup.cfg: colcon cannot read what setuptools makes of it there
    ext_modules=extensions(),
    cmdclass={"build_ext": OptionalBuildExt, "inline": Inline},
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{NAME}"]),
        (f"share/{NAME}", ["package.xml"]),
        (f"share/{NAME}/launch", glob("launch/*.launch.py")),
        (f"share/{NAME}/urdf", glob("urdf/*.urdf")),
        (f"share/{NAME}/config", glob("config/*")),
        # `ros2 run` and launch look here, and not among the console scripts of pip
        (f"lib/{NAME}", glob("scripts/*")),
    ],
)
